"""The three patch formats: RFC 7386 merge, RFC 6902 JSON patch, strategic merge."""

import copy

from . import status

# Lists that strategic merge joins by a key; every other list is replaced.
MERGE_KEYS = {"conditions": "type", "addresses": "type", "containers": "name",
              "initContainers": "name", "containerStatuses": None, "volumes": "name",
              "env": "name", "volumeMounts": "mountPath", "taints": None, "ports": None,
              "ownerReferences": "uid", "podIPs": "ip", "hostIPs": "ip", "images": None}
# Lists of plain values that strategic merge joins as sets.
MERGE_SETS = {"finalizers", "podCIDRs"}


def merge(target, patch):
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def _strategic_list(current, patch, key):
    if {"$patch": "replace"} in patch:
        return [copy.deepcopy(entry) for entry in patch if "$patch" not in entry]
    result = copy.deepcopy(current or [])
    for entry in patch:
        entry = copy.deepcopy(entry)
        directive = entry.pop("$patch", None)
        at = next((i for i, r in enumerate(result) if r.get(key) == entry.get(key)), None)
        if directive == "delete":
            if at is not None:
                del result[at]
        elif at is None:
            result.append(entry)
        else:
            result[at] = strategic(result[at], entry)
    return result


def strategic(target, patch):
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    if patch.get("$patch") == "replace":
        return {k: v for k, v in patch.items() if k != "$patch"}
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if key.startswith("$setElementOrder/") or key.startswith("$retainKeys"):
            continue
        if value is None:
            result.pop(key, None)
        elif isinstance(value, list) and MERGE_KEYS.get(key):
            result[key] = _strategic_list(result.get(key), value, MERGE_KEYS[key])
        elif isinstance(value, list) and key in MERGE_SETS:
            result[key] = list(dict.fromkeys((result.get(key) or []) + value))
        else:
            result[key] = strategic(result.get(key), value)
    return result


def _walk(document, parts):
    for part in parts:
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document


def json_patch(document, operations):
    document = copy.deepcopy(document)
    for op in operations:
        parts = [p.replace("~1", "/").replace("~0", "~") for p in op["path"].split("/")[1:]]
        parent, last = _walk(document, parts[:-1]), parts[-1]
        if op["op"] == "test":
            if _walk(document, parts) != op["value"]:
                raise status.bad_request("testing path %s failed" % op["path"])
        elif isinstance(parent, list):
            at = len(parent) if last == "-" else int(last)
            if op["op"] in ("remove", "replace"):
                del parent[at]
            if op["op"] in ("add", "replace"):
                parent.insert(at, op["value"])
        elif op["op"] == "remove":
            del parent[last]
        else:
            parent[last] = op["value"]
    return document


FORMATS = {"application/merge-patch+json": merge,
           "application/strategic-merge-patch+json": strategic,
           "application/json-patch+json": json_patch}


def apply(content_type, document, patch):
    kind = content_type.split(";")[0].strip()
    if kind not in FORMATS:
        raise status.ApiError(415, "UnsupportedMediaType", "the body of the request was in an "
                              "unknown format - accepted media types include: "
                              + ", ".join(sorted(FORMATS)))
    try:
        return FORMATS[kind](document, patch)
    except (KeyError, IndexError, TypeError, ValueError) as e:
        raise status.bad_request("the patch cannot be applied: %s" % e) from None
