"""Bootstrap tokens: their Secrets, who they authenticate, and the JWS they sign."""

import base64
import datetime
import hashlib
import hmac
import re

TOKEN = re.compile(r"\A([a-z0-9]{6})\.([a-z0-9]{16})\Z")
SECRET_TYPE = "bootstrap.kubernetes.io/token"
DEFAULT_GROUP = "system:bootstrappers:kubeadm:default-node-token"


def b64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def detached_jws(token_id, secret, payload, header=None):
    """The value of a jws-kubeconfig-<id> key: compact JWS with the payload left out."""
    header = header or '{"alg":"HS256","kid":"%s"}' % token_id
    head = b64url(header.encode())
    signature = hmac.new(secret.encode(), (head + "." + b64url(payload.encode())).encode(),
                         hashlib.sha256).digest()
    return head + ".." + b64url(signature)


def _text(secret, key):
    return base64.b64decode(secret.get("data", {}).get(key, "")).decode()


def secret_of(token, expiration=None, groups=DEFAULT_GROUP, usages=("signing", "authentication"),
              description=""):
    """The Secret that `kubeadm token create` writes for a token."""
    token_id, secret = TOKEN.match(token).groups()
    data = {"token-id": token_id, "token-secret": secret}
    data.update({"usage-bootstrap-" + u: "true" for u in usages})
    if groups:
        data["auth-extra-groups"] = groups
    if expiration:
        data["expiration"] = expiration
    if description:
        data["description"] = description
    return {"apiVersion": "v1", "kind": "Secret", "type": SECRET_TYPE,
            "metadata": {"name": "bootstrap-token-" + token_id, "namespace": "kube-system"},
            "data": {k: base64.b64encode(v.encode()).decode() for k, v in data.items()}}


def expired(secret, when=None):
    """Absent never expires; what cannot be parsed counts as expired."""
    text = _text(secret, "expiration")
    if not text:
        return False
    try:
        end = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return True
    if end.tzinfo is None:
        return True
    return end <= (when or datetime.datetime.now(datetime.timezone.utc))


def usable(secret, usage):
    return (secret.get("type") == SECRET_TYPE and not expired(secret)
            and _text(secret, "usage-bootstrap-" + usage) == "true")


def signing_pairs(secrets):
    """(id, secret) of every token that may sign cluster-info."""
    return [(_text(s, "token-id"), _text(s, "token-secret"))
            for s in secrets if usable(s, "signing")]


def authenticate(bearer, lookup):
    """(user, groups) of a bearer token, or None; lookup gives the Secret of a name or None."""
    match = TOKEN.match(bearer)
    secret = match and lookup("bootstrap-token-" + match.group(1))
    if not secret or not usable(secret, "authentication"):
        return None
    if not hmac.compare_digest(_text(secret, "token-secret"), match.group(2)):
        return None
    extra = sorted({g for g in _text(secret, "auth-extra-groups").split(",") if g})
    return "system:bootstrap:" + match.group(1), ["system:bootstrappers"] + extra
