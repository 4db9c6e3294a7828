"""Field and label selectors of list and watch requests."""

import re

from . import status

FIELDS = ("metadata.name", "metadata.namespace", "spec.nodeName", "spec.signerName",
          "spec.clusterIP", "status.phase", "status.podIP", "type", "reason", "involvedObject.name",
          "involvedObject.kind", "source")
SET_BASED = re.compile(r"^(\S+)\s+(in|notin)\s+\(([^)]*)\)$")


def _field(item, path):
    if path == "source":  # of an Event: what made it
        return item.get("source", {}).get("component", "")
    for part in path.split("."):
        item = item.get(part, "") if isinstance(item, dict) else ""
    return item


def field_matcher(text):
    """A predicate over objects for a fieldSelector."""
    terms = []
    for term in filter(None, (text or "").split(",")):
        path, operator, value = re.match(r"^([^=!]*)(==|=|!=)(.*)$", term).groups() \
            if re.search("=", term) else (term, "", "")
        if not operator or path not in FIELDS:
            raise status.bad_request('field label not supported: %s' % path)
        terms.append((path, operator == "!=", value))
    return lambda item: all((_field(item, p) == v) != negated for p, negated, v in terms)


def name_of(query):
    """The one object that a fieldSelector asks for by its name, or ""."""
    terms = (query.get("fieldSelector") or "").split(",")
    return next((term[len("metadata.name="):] for term in terms if term.startswith("metadata.name=")), "")


def _label_term(term):
    term = term.strip()
    match = SET_BASED.match(term)
    if match:
        key, operator, values = match.groups()
        allowed = {v.strip() for v in values.split(",")}
        return lambda labels: (labels.get(key) in allowed) == (operator == "in")
    match = re.match(r"^([^=!\s]+)\s*(==|=|!=)\s*(.*)$", term)
    if match:
        key, operator, value = match.groups()
        return lambda labels: (labels.get(key) == value) == (operator != "!=")
    if term.startswith("!"):
        return lambda labels: term[1:] not in labels
    return lambda labels: term in labels


def label_matcher(text):
    """A predicate over objects for a labelSelector."""
    terms = [_label_term(t) for t in re.split(r",(?![^(]*\))", text or "") if t.strip()]
    return lambda item: all(t(item["metadata"].get("labels") or {}) for t in terms)


def matcher(query):
    by_field = field_matcher(query.get("fieldSelector"))
    by_label = label_matcher(query.get("labelSelector"))
    return lambda item: by_field(item) and by_label(item)


def table(items):
    """A list as a Table of its objects' names (meta/v1, includeObject=None); a real server has more columns."""
    return {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": items["metadata"],
            "columnDefinitions": [{"name": "Name", "type": "string", "format": "name", "description": "", "priority": 0}],
            "rows": [{"cells": [i["metadata"]["name"]], "object": None} for i in items["items"]]}
