"""The schemas of winjoin's documents (docs/reference/schema): what a suite sees is held to them, and to nothing more.

Readers are told to pass over what they do not know, so the schemas leave documents open; a test may not see a member
that no schema names, and closes them.
"""
import functools
import json
import pathlib
import re

import jsonschema

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "docs/reference/schema"
# What has no kind is known by what it has.
BARE = (("ProgressEnd", {"result", "exitCode"}), ("ProgressEvent", {"time", "state"}), ("DiagChange", {"time", "good"}),
        ("DiagFailure", {"time", "error"}), ("Failure", {"error"}))
FORMATS = jsonschema.FormatChecker(formats=())


@FORMATS.checks("date-time")
def is_time(value):
    return not isinstance(value, str) or re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", value)


def closed(schema):
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(value) for key, value in schema.items()}
    return {"additionalProperties": False, **made} if schema.get("type") == "object" and "properties" in schema else made


@functools.cache
def validator(name):
    schema = json.loads((FOLDER / (name + ".json")).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(closed(schema), format_checker=FORMATS)


def name_of(document):
    """None: it is not winjoin's."""
    if str(document.get("apiVersion", "winjoin.io/")).startswith("winjoin.io/") and "kind" in document:
        return document["kind"]
    return next((name for name, members in BARE if members <= set(document)), None) if "apiVersion" not in document else None


def problems(document, name=None):
    """A line for each thing in a document of winjoin's that its schema does not say."""
    name = name or name_of(document)
    if not name:
        return []
    found = ["%s: %s: %s" % (name, "/".join(map(str, e.absolute_path)), e.message[:300])
             for e in validator(name).iter_errors(document)]
    return found + (problems(document["result"]) if name == "ProgressEnd" else [])


def check(document, name=None):
    found = problems(document, name)
    if found:
        raise AssertionError("not as docs/reference/schema says:\n" + "\n".join(found[:8]))
    return document


def check_output(*texts):
    """Of what a call printed: one document, or one a line among other lines."""
    for text in texts:
        lines = [text] if text.startswith("{\n") else [line for line in text.splitlines() if line.startswith("{\"")]
        for line in lines:
            try:
                document = json.loads(line)
            except ValueError:
                continue  # cut off, or somebody else's
            check(document)
