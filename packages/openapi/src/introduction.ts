import {
  HeadersTooLarge,
  MalformedRequest,
  MethodNotAllowed,
  MisdirectedRequest,
  RequestTimeout
} from "@scheduling/domain/shared/Errors"

/**
 * The errors of requests that do not reach an endpoint, so that no operation lists these errors.
 */
const errorsWithoutEndpoint = [
  MalformedRequest,
  MethodNotAllowed,
  RequestTimeout,
  MisdirectedRequest,
  HeadersTooLarge
].map((error) => {
  const { detail } = new error({ allow: ["GET", "POST"] })
  return `| ${error.status} | \`${error.code}\` | ${detail.message} |`
})

/** The first page of the API reference. */
export const introduction = `
Runs scheduled HTTP calls: **cron tasks** repeat, **delayed tasks** run once, and **chains** are calls in
which each step can use the responses of earlier steps. Each run is recorded as an **execution**.

**Monitors** watch systems that the service does not run: **heartbeats** wait for pings of a job, **HTTP
monitors** check the responses of web sites, **TCP monitors** connect to servers, **DNS monitors** look up
records, **SSL monitors** check certificates, and **process monitors** count the processes on the machine of
a worker. Each outage is one **incident**.

## Authentication

Send \`Authorization: Bearer <credential>\`. There are two kinds of credential:

- **Access tokens** are for people. \`POST /v1/auth/login\` returns one that is valid for 15 minutes, and a
  refresh token to get the next one. An access token may do what your role in a workspace allows. Tools that
  set up a workspace get an access token with the secret of a **service account**: \`POST /v1/auth/token\`.
- **API keys** are for scripts, CI and integrations. An API key starts with \`pak_\`, belongs to one workspace
  and may do what its scopes allow. Reading needs the \`:read\` scope of a resource, everything else \`:write\`.

To try the operations on this page, paste a credential into **Bearer Token**, without \`Bearer\` before it. To
get one, call \`POST /v1/auth/register\` with an email and a password, then \`POST /v1/auth/login\`, and use the
\`access_token\` of the response. With it, \`POST /v1/workspaces/{workspace_id}/api-keys\` creates an API key.
Only that response contains the \`key\`. The page forgets your credential when you close it.

Each operation says which credentials it accepts (also in \`x-access\`, \`x-required-scope\` and \`x-required-role\`).

## Errors

All errors have the same format:

\`\`\`json
{
  "detail": { "error": "insufficient_scope", "message": "This API key lacks the scope tasks:write.", "required_scope": "tasks:write" },
  "request_id": "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"
}
\`\`\`

Programs should use \`error\`, which is stable. The wording of \`message\` may change. A request is checked in
this order: credential (401), rate limit (429), kind of credential (403), workspace (403 or 404), scope or role (403),
body and query (422), resource (404), state (409). An unknown route gets a 404, and a known route with another
method a 405. Each operation lists its possible errors. In \`/v1/openapi.json\`, the errors that most operations
share are listed once, as the \`default\` response. These errors can occur before the operation is known:

| status | error | message |
|---|---|---|
${errorsWithoutEndpoint.join("\n")}

A 422 \`validation_failed\` lists all problems in \`issues\`, not only the first. Each issue has the \`path\` of
a field, a \`code\` for programs, and a \`message\` for people:

\`\`\`json
{ "path": ["schedule"], "code": "required", "message": "schedule is required." }
\`\`\`

A 409 \`conflict\` names the kind of record in \`resource\` and, if there is one, the conflicting \`field\` and the
\`existing_id\` of the record that conflicts.

Each response has the header \`x-request-id\`, and the body of an error repeats it as \`request_id\`. To find a
request in the logs, send an id that you choose in this header.

## Rate limit

The limit is 600 requests per minute for each API key, and 600 for each account with all its access tokens,
unless the operator has set another number. You can send them in a burst. Each response to a request with a credential
has the remaining quota: in \`RateLimit: "default";r=599;t=1\`, \`r\` is the number of requests that you can send immediately, and
\`t\` the number of seconds until the quota is full again. A request over the limit gets a 429 \`rate_limited\` with
\`Retry-After\`, and has no effect.

## Pagination

Lists return \`{ "data": [...], "next_cursor": "..." }\`, newest first. Pass \`next_cursor\` as \`cursor\` to get
the next page, until it is null. A page has 20 records by default. Set \`limit\` to get up to 100.

## Idempotency

Operations that create or run something accept an \`Idempotency-Key\` header, so that you can safely repeat a
request whose response was lost. Within 24 hours, the same key with the same body returns the first response
again, with the header \`Idempotent-Replayed: true\`. With another body, the response is 422 \`idempotency_mismatch\`: do
not repeat that request. While the first request is in progress, the response is 409 \`idempotency_in_progress\`: repeat
the request after \`Retry-After\`. Operations whose response contains a secret, such as creating an API key or a
worker, do not accept the header, because the secret is not stored.

## Formats

Bodies are JSON in UTF-8 with snake_case fields, and at most 1 MiB long. Ids are UUIDs, and times are ISO 8601 in UTC.
A request with an unknown field or query parameter is rejected with 422. An empty body and \`{}\` are accepted for every
operation except GET.

## Versioning

The version is the \`/v1\` in the path. Within a version, nothing is removed and nothing changes its meaning. Responses may
get new fields, enumerations new values, and operations new errors, so ignore what you do not know.
An operation is announced as deprecated a year before it is removed, in the headers \`Deprecation\` and \`Sunset\`.
Operations marked \`x-internal\` are only for the control panel and may change in any version.
`.trim()
