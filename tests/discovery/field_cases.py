"""Fields of the signed kubeconfig, each with a value of another kind: what Go's decoder would not take."""
from odd_cases import config

# name, where it stands, what stands there, whether it is taken
FIELDS = [
    ("a number for a CA's file", "cluster", "certificate-authority: 5", False),
    ("null for a CA's file", "cluster", "certificate-authority: null", True),
    ("a number for tls-server-name", "cluster", "tls-server-name: 5", False),
    ("a list for proxy-url", "cluster", "proxy-url: []", False),
    ("null for insecure-skip-tls-verify", "cluster", "insecure-skip-tls-verify: null", True),
    ("a number for insecure-skip-tls-verify", "cluster", "insecure-skip-tls-verify: 0", False),
    ("off for insecure-skip-tls-verify", "cluster", "insecure-skip-tls-verify: off", False),
    ("a text for disable-compression", "cluster", 'disable-compression: "true"', False),
    ("extensions of a cluster as a map", "cluster", "extensions: {}", False),
    ("extensions of a cluster", "cluster", "extensions: [{name: a, extension: {b: c}}]", True),
    ("an extension whose name is a number", "cluster", "extensions: [{name: 5, extension: {}}]", False),
    ("an extension that is a text", "cluster", "extensions: [{name: a, extension: text}]", True),
    ("an extension that is null", "cluster", "extensions: [{name: a, extension: null}]", True),
    ("an extension without a name", "cluster", "extensions: [{extension: {}}]", True),
    ("two extensions of one name", "cluster", "extensions: [{name: a}, {name: a}]", True),
    ("two extensions of one name that stand for something", "cluster",
     "extensions: [{name: a, extension: {}}, {name: b}, {name: a}]", False),
    ("two extensions of no name", "top", "extensions: [{extension: {}}, {extension: {}}]", False),
    ("a location of origin", "cluster", "LocationOfOrigin: /etc", True),
    ("a number for the current context", "current", "5", False),
    ("a list for the current context", "current", "[]", False),
    ("null for the current context", "current", "null", True),
    ("a current context that is not there", "current", "nobody", True),
    ("contexts as a map", "contexts", "{}", False),
    ("a null among the contexts", "contexts", "[null]", False),
    ("a text among the contexts", "contexts", "[text]", False),
    ("a context that is a number", "contexts", "[{name: a, context: 5}]", False),
    ("a context that is null", "contexts", "[{name: a, context: null}]", True),
    ("a context whose name is a number", "contexts", "[{name: 5, context: {}}]", False),
    ("a context whose cluster is a number", "contexts", "[{name: a, context: {cluster: 5}}]", False),
    ("a context whose user is a list", "contexts", "[{name: a, context: {user: []}}]", False),
    ("a context whose namespace is a number", "contexts", "[{name: a, context: {namespace: 5}}]", False),
    ("a context's extensions as a text", "contexts", "[{name: a, context: {extensions: x}}]", False),
    ("two contexts of one name", "contexts", "[{name: a, context: {}}, {name: a, context: {}}]", False),
    ("users as a map", "users", "{}", False),
    ("users that are an empty list", "users", "[]", True),
    ("a null among the users", "users", "[null]", False),
    ("a number among the users", "users", "[5]", False),
    ("a user whose name is a number", "users", "[{name: 5}]", False),
    ("a user that is a text", "users", "[{name: a, user: text}]", False),
    ("a user that is null", "users", "[{name: a, user: null}]", True),
    ("a user's token as null", "users", "[{name: a, user: {token: null}}]", True),
    ("a user's token as a list", "users", "[{name: a, user: {token: []}}]", False),
    ("a user's certificate that is no base64", "users",
     "[{name: a, user: {client-certificate-data: '!!'}}]", False),
    ("a user's key as a number", "users", "[{name: a, user: {client-key-data: 5}}]", False),
    ("a user's key in the URL alphabet", "users", "[{name: a, user: {client-key-data: '-_-_'}}]", False),
    ("a user's files as numbers", "users", "[{name: a, user: {client-key: 5}}]", False),
    ("a user's password as a boolean", "users", "[{name: a, user: {username: a, password: yes}}]", False),
    ("a user's name as a number", "users", "[{name: a, user: {username: 5}}]", False),
    ("groups as a text", "users", "[{name: a, user: {as-groups: text}}]", False),
    ("groups as numbers", "users", "[{name: a, user: {as-groups: [5]}}]", False),
    ("an extra as a text", "users", "[{name: a, user: {as-user-extra: {a: b}}}]", False),
    ("an extra as a list", "users", "[{name: a, user: {as-user-extra: {a: [b]}}}]", True),
    ("a user id as a number", "users", "[{name: a, user: {as-uid: 5}}]", False),
    ("an impersonated user as a number", "users", "[{name: a, user: {as: 5}}]", False),
    ("an auth provider that is null", "users", "[{name: a, user: {auth-provider: null}}]", True),
    ("an auth provider that is a text", "users", "[{name: a, user: {auth-provider: x}}]", False),
    ("an auth provider's settings as numbers", "users",
     "[{name: a, user: {auth-provider: {name: a, config: {b: 5}}}}]", False),
    ("a program that is null", "users", "[{name: a, user: {exec: null}}]", True),
    ("a program that is a text", "users", "[{name: a, user: {exec: x}}]", False),
    ("a program's arguments as a text", "users", "[{name: a, user: {exec: {args: x}}}]", False),
    ("a program's arguments as numbers", "users", "[{name: a, user: {exec: {args: [5]}}}]", False),
    ("a program's environment as a map", "users", "[{name: a, user: {exec: {env: {a: b}}}}]", False),
    ("a program's environment with a number", "users",
     "[{name: a, user: {exec: {env: [{name: a, value: 5}]}}}]", False),
    ("a program's mode as a number", "users", "[{name: a, user: {exec: {interactiveMode: 5}}}]", False),
    ("a program told the cluster by a text", "users",
     "[{name: a, user: {exec: {provideClusterInfo: 'yes'}}}]", False),
    ("a program's hint as a list", "users", "[{name: a, user: {exec: {installHint: []}}}]", False),
    ("extensions as a text", "top", "extensions: x", False),
    ("extensions as a map", "top", "extensions: {}", False),
    ("extensions that are null", "top", "extensions: null", True),
    ("a null among the extensions", "top", "extensions: [null]", True),
    ("a number among the extensions", "top", "extensions: [5]", False),
    ("colours as a text", "preferences", '{colors: "true"}', False),
    ("preferences that are null", "preferences", "null", True),
    ("preferences' extensions as a number", "preferences", "{extensions: 5}", False),
    ("an unknown field of the preferences", "preferences", "{more: 1}", True),
    ("fields named in other letters", "top", "Clusters: 5", True),
    ("a kind in other letters beside it", "top", "Kind: Pod", True),
    ("a version in other letters", "top", "apiversion: v2", False),
    ("a status", "top", "status: {a: b}", True),
    ("metadata", "top", "metadata: {name: a}", True),
]
OLD = {"current": 'current-context: ""', "contexts": "contexts: null", "users": "users: null",
       "preferences": "preferences: {}"}


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
