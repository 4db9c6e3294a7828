"""What the site has otherwise than mkdocs makes it: anchors as GitHub names them, which the links between pages are written for."""
import re


def anchor(heading, separator):
    """GitHub's anchor of a heading: small letters, no punctuation, a hyphen each blank."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", separator)


def on_config(config):
    config.mdx_configs.setdefault("toc", {})["slugify"] = anchor
    return config
