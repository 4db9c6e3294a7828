"""API errors as upstream writes them: metav1.Status objects."""


class ApiError(Exception):
    """Carries the HTTP code and the Status object of a refused request."""

    def __init__(self, code, reason, message, details=None, headers=None):
        super().__init__(message)
        self.code, self.headers = code, headers or {}
        self.status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                       "message": message, "reason": reason, "details": details or {},
                       "code": code}
        if details is None:
            del self.status["details"]


def _details(resource, name, **more):
    found = {"name": name, "group": resource.group, "kind": resource.plural, **more}
    return {k: v for k, v in found.items() if v}


def unauthorized():
    return ApiError(401, "Unauthorized", "Unauthorized")


def not_found(resource, name):
    return ApiError(404, "NotFound", '%s "%s" not found' % (resource.qualified, name),
                    _details(resource, name))


def no_such_resource():
    return ApiError(404, "NotFound", "the server could not find the requested resource", {})


def already_exists(resource, name):
    return ApiError(409, "AlreadyExists", '%s "%s" already exists' % (resource.qualified, name),
                    _details(resource, name))


def conflict(resource, name):
    return ApiError(409, "Conflict", "Operation cannot be fulfilled on %s \"%s\": the object has "
                    "been modified; please apply your changes to the latest version and try again"
                    % (resource.qualified, name), _details(resource, name))


def invalid(resource, name, field, why):
    return ApiError(422, "Invalid", '%s "%s" is invalid: %s: %s'
                    % (resource.qualified_kind, name, field, why),
                    {**_details(resource, name), "kind": resource.kind,
                     "causes": [{"reason": "FieldValueInvalid", "message": why, "field": field}]})


def bad_request(message):
    return ApiError(400, "BadRequest", message)


def too_many_requests(seconds):
    """What API priority and fairness says when it is full."""
    return ApiError(429, "TooManyRequests", "The server has received too many requests and has "
                    "asked us to try again later", {"retryAfterSeconds": seconds},
                    {"Retry-After": str(seconds)})


def expired(message):
    return ApiError(410, "Expired", message)


def forbidden(resource, name, why):
    subject = '%s "%s"' % (resource.qualified, name) if name else resource.qualified
    return ApiError(403, "Forbidden", "%s is forbidden: %s" % (subject, why),
                    _details(resource, name))


def forbidden_access(attributes, extra=""):
    """The refusal of the authorizer: who, what, where."""
    a = attributes
    if a.path:
        return ApiError(403, "Forbidden", 'forbidden: User "%s" cannot %s path "%s"'
                        % (a.user, a.verb, a.path), {})
    where = 'in the namespace "%s"' % a.namespace if a.namespace else "at the cluster scope"
    full = a.resource.plural + ("/" + a.subresource if a.subresource else "")
    why = 'User "%s" cannot %s resource "%s" in API group "%s" %s%s' % (
        a.user, a.verb, full, a.resource.group, where, ": " + extra if extra else "")
    return forbidden(a.resource, a.name, why)


def success(resource, item):
    """The answer to a DELETE."""
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
            "details": {**_details(resource, item["metadata"]["name"]),
                        "uid": item["metadata"]["uid"]}}
