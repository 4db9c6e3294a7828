"""The objects: versions, lists, watches, and the event log that feeds the watches."""

import collections
import copy
import datetime
import json
import threading
import uuid

from . import status

LOG_LENGTH = 20000
GENERATED_MAX = 8  # names that are tried for a generateName (upstream's registry/rest/create.go, RetryGenerateName)


def timestamp():
    return datetime.datetime.utcnow().strftime("%Y-%m-%dT%H:%M:%SZ")


Event = collections.namedtuple("Event", "version type resource item old")


class Store:
    """Thread-safe. What is handed in and out is copied; nobody shares an object with it."""

    def __init__(self):
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)
        # (resource, name) -> the lock as a condition of those who wait for that object alone: a thousand watches of a
        # request each are not woken by the other requests.
        self.waiting = {}
        self.version = 1
        self.items = {}  # resource -> {(namespace, name): object}
        self.log = collections.deque(maxlen=LOG_LENGTH)
        self.closed = False

    def _kept(self, resource):
        return self.items.setdefault(resource, {})

    def _record(self, kind, resource, item, old):
        self.version += 1
        item["metadata"]["resourceVersion"] = str(self.version)
        self.log.append(Event(self.version, kind, resource, item, old))
        self.changed.notify_all()
        if (resource, item["metadata"]["name"]) in self.waiting:
            self.waiting[resource, item["metadata"]["name"]].notify_all()

    def find(self, resource, namespace, name):
        with self.changed:
            return copy.deepcopy(self._kept(resource).get((namespace, name)))

    def get(self, resource, namespace, name):
        item = self.find(resource, namespace, name)
        if item is None:
            raise status.not_found(resource, name)
        return item

    def list(self, resource, namespace="", wanted=lambda item: True):
        """(objects in name order, resourceVersion of the list); `wanted` sees the objects themselves, and changes nothing."""
        with self.changed:
            keys = sorted(k for k, item in self._kept(resource).items() if (not namespace or k[0] == namespace) and wanted(item))
            return [copy.deepcopy(self._kept(resource)[k]) for k in keys], str(self.version)

    def create(self, resource, namespace, item):
        item = copy.deepcopy(item)
        meta = item.setdefault("metadata", {})
        item["kind"], item["apiVersion"] = resource.kind, resource.api_version
        if resource.namespaced:
            meta["namespace"] = namespace
        meta["uid"], meta["creationTimestamp"] = str(uuid.uuid4()), timestamp()
        with self.changed:
            for _ in range(GENERATED_MAX if meta.get("generateName") and not meta.get("name") else 0):
                meta["name"] = meta["generateName"] + suffix()
                if (namespace, meta["name"]) not in self._kept(resource):
                    break
            key = (namespace, meta["name"])
            if key in self._kept(resource):
                raise status.already_exists(resource, meta["name"])
            self._kept(resource)[key] = item
            self._record("ADDED", resource, item, None)
            return copy.deepcopy(item)

    def modify(self, resource, namespace, name, change):
        """Replaces an object by change(copy of it); nothing happens when it is unchanged."""
        with self.changed:
            old = self._kept(resource).get((namespace, name))
            if old is None:
                raise status.not_found(resource, name)
            new = change(copy.deepcopy(old))
            for field in ("name", "namespace", "uid", "creationTimestamp", "resourceVersion"):
                if field in old["metadata"]:
                    new["metadata"][field] = old["metadata"][field]
            new["kind"], new["apiVersion"] = resource.kind, resource.api_version
            if new != old:
                new = copy.deepcopy(new)
                self._kept(resource)[(namespace, name)] = new
                self._record("MODIFIED", resource, new, old)
            return copy.deepcopy(new)

    def delete(self, resource, namespace, name, uid=None):
        with self.changed:
            old = self._kept(resource).get((namespace, name))
            if old is None:
                raise status.not_found(resource, name)
            if uid and uid != old["metadata"]["uid"]:
                raise status.conflict(resource, name)
            del self._kept(resource)[(namespace, name)]
            gone = copy.deepcopy(old)
            self._record("DELETED", resource, gone, old)
            return copy.deepcopy(gone)

    def events_after(self, version, resource, wait, name=""):
        """(events of a resource after a version, newest version seen); waits for some, with a name for some of that object."""
        with self.changed:
            oldest = self.log[0].version - 1 if self.log else self.version  # a start forgets the log
            if version < oldest:
                raise status.expired("too old resource version: %d (%d)" % (version, oldest + 1))
            fresh, newest = self._fresh(version, resource, name)
            if not fresh and (name or newest <= version) and not self.closed:
                one = self.waiting.setdefault((resource, name), threading.Condition(self.lock)) if name else self.changed
                one.wait(wait)
                fresh, newest = self._fresh(version, resource, name)
            return fresh, newest

    def _fresh(self, version, resource, name):
        fresh = []
        for event in reversed(self.log):
            if event.version <= version:
                break
            if (resource is None or event.resource == resource) and (not name or event.item["metadata"]["name"] == name):
                fresh.append(event)
        return fresh[::-1], self.version

    def close(self):
        """Ends every watch."""
        with self.changed:
            self.closed = True
            for condition in (self.changed, *self.waiting.values()):
                condition.notify_all()

    def save(self, path):
        with self.changed, open(path, "w", encoding="utf-8") as f:
            json.dump({"version": self.version,
                       "items": [i for kept in self.items.values() for i in kept.values()]}, f)

    def load(self, path, by_kind):
        with self.changed, open(path, encoding="utf-8") as f:
            saved = json.load(f)
            self.version = saved["version"]
            for item in saved["items"]:
                resource = by_kind[(item["apiVersion"], item["kind"])]
                meta = item["metadata"]
                self._kept(resource)[(meta.get("namespace", ""), meta["name"])] = item


def suffix():
    """Five characters as upstream's name generator picks them."""
    letters = "bcdfghjklmnpqrstvwxz2456789"
    number = uuid.uuid4().int
    return "".join(letters[number // 27 ** i % 27] for i in range(5))
