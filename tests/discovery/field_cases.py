"""Fields of the signed kubeconfig, each with a value of another kind: what is not used may be anything."""
from odd_cases import config

# name, where it is, what is there, whether it is taken
FIELDS = [
    ("null for a CA's file", "cluster", "certificate-authority: null", True),
    ("a number for tls-server-name", "cluster", "tls-server-name: 5", False),
    ("a list for proxy-url", "cluster", "proxy-url: []", False),
    ("null for insecure-skip-tls-verify", "cluster", "insecure-skip-tls-verify: null", True),
    ("off for insecure-skip-tls-verify", "cluster", "insecure-skip-tls-verify: off", True),
    ("extensions of a cluster as a map", "cluster", "extensions: {}", True),
    ("null for the current context", "current", "null", True),
    ("a current context that is not there", "current", "nobody", True),
    ("contexts as a map", "contexts", "{}", True),
    ("a null among the contexts", "contexts", "[null]", True),
    ("two contexts of one name", "contexts", "[{name: a, context: {}}, {name: a, context: {}}]", True),
    ("users that are an empty list", "users", "[]", True),
    ("a user that is null", "users", "[{name: a, user: null}]", True),
    ("a user's certificate that is not base64", "users",
     "[{name: a, user: {client-certificate-data: '!!'}}]", True),
    ("a program", "users", "[{name: a, user: {exec: {command: /bin/false}}}]", True),
    ("fields named in other letters", "top", "Clusters: 5", True),
    ("a kind in other letters beside it", "top", "Kind: Pod", True),
    ("a version in other letters", "top", "apiversion: v2", True),
    ("a status", "top", "status: {a: b}", True),
    ("metadata", "top", "metadata: {name: a}", True),
]
OLD = {"current": 'current-context: ""', "contexts": "contexts: null", "users": "users: null"}


def put(place, value):
    """The text with the field in its place."""
    def change(text):
        if place == "top":
            return text + value + "\n"
        if place == "cluster":
            return text.replace("    server:", "    %s\n    server:" % value)
        return text.replace(OLD[place], "%s: %s" % (OLD[place].split(":")[0], value))
    return change


CASES = [config("field: " + name, 0 if taken else 1, put(place, value)) for name, place, value, taken in FIELDS]
