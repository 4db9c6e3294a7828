"""judge_manifest.py SCHEMA FILE...: what a published schema says against each file, a line each (run by the Python of
tests/provision/ansible_tools.py, which has the validators)."""
import json
import pathlib
import sys

NAMESPACE = "http://schemas.microsoft.com/packaging/2015/06/nuspec.xsd"


def wrong_yaml(schema, path):
    import jsonschema
    import yaml
    # Without YAML's own dates and numbers: winget reads texts.
    given = yaml.load(path.read_text(encoding="utf-8"), yaml.BaseLoader)
    for error in jsonschema.Draft202012Validator(json.loads(schema.read_text(encoding="utf-8"))).iter_errors(given):
        yield "%s: %s" % (error.json_path, error.message)


def wrong_xml(schema, path):
    import xmlschema
    # NuGet writes the namespace of the version that it packs in place of {0}.
    for error in xmlschema.XMLSchema(schema.read_text(encoding="utf-8-sig").replace("{0}", NAMESPACE)).iter_errors(str(path)):
        yield "%s: %s" % (error.path, error.reason)


def main():
    schema, *files = (pathlib.Path(word) for word in sys.argv[1:])
    for path in files:
        for line in (wrong_yaml if path.suffix == ".yaml" else wrong_xml)(schema, path):
            print("%s: %s" % (path.name, line))


main()
