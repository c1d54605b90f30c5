import {
  HeadersTooLarge,
  MalformedRequest,
  MethodNotAllowed,
  MisdirectedRequest,
  RequestTimeout
} from "@scheduling/domain/shared/Errors"

/** Errors of requests that reach no endpoint, so that no operation lists them. */
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
Runs scheduled HTTP work: **cron tasks** that repeat, **delayed tasks** that run once, and **chains**
of calls where each step sees the answers before it. Every run is kept as an **execution**.

**Monitors** watch what runs elsewhere: **heartbeats** wait for pings of a job, **HTTP monitors** check the
answers of web sites, **TCP monitors** connect to servers, **DNS monitors** look up records, **SSL monitors** check certificates, and **process monitors** count the processes
on the machine of a worker. Each outage is one **incident**.

## Authentication

Send \`Authorization: Bearer <credential>\`. There are two kinds of credential:

- an **access token** for people: \`POST /v1/auth/login\` gives one that lives 15 minutes and a
  refresh token for the next. It may do whatever your role in a workspace allows. Tools that set up a
  workspace get one with the secret of a **service account**: \`POST /v1/auth/token\`;
- an **API key** for scripts, CI and integrations: it starts with \`pak_\`, belongs to one workspace
  and may do what its scopes say. Reading needs the \`:read\` scope of a resource, everything else \`:write\`.

To try the operations on this page, paste a credential where it says **Bearer Token**, without
\`Bearer\` before it. For a first one, call \`POST /v1/auth/register\` with an email and a password, then
\`POST /v1/auth/login\`, and paste the \`access_token\` of its answer. With it
\`POST /v1/workspaces/{workspace_id}/api-keys\` makes an API key, whose value is shown once, in the field
\`key\` of that answer. The page keeps what you paste only as long as it is open.

Each operation says which of the two it takes (also as \`x-access\`, \`x-required-scope\` and \`x-required-role\`).

## Errors

Every failure has one shape, whatever the status:

\`\`\`json
{
  "detail": { "error": "insufficient_scope", "message": "This API key lacks the scope tasks:write.", "required_scope": "tasks:write" },
  "request_id": "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"
}
\`\`\`

Act on \`error\`, which is stable; \`message\` is for people and may be reworded. A request is checked in
this order: credential (401), rate limit (429), kind of credential (403), workspace (403 or 404), scope or role (403),
body and query (422), resource (404), state (409). An unknown route answers 404 and a known one with another method 405, in the
same shape. Each operation lists the errors that it can answer; in \`/v1/openapi.json\`, the errors of most
operations are listed once, as the \`default\` response. These come before any operation:

| status | error | message |
|---|---|---|
${errorsWithoutEndpoint.join("\n")}

A 422 \`validation_failed\` lists everything that is wrong in \`issues\`, not only the first. Each issue has
the \`path\` of a field, a \`code\` for programs, and a \`message\` for people:

\`\`\`json
{ "path": ["schedule"], "code": "required", "message": "schedule is required." }
\`\`\`

A 409 \`conflict\` names the kind of record in \`resource\`, and where there is one, the \`field\` that conflicts
and the \`existing_id\` of the record that is in the way.

Each response carries \`x-request-id\`, and the body of an error repeats it as \`request_id\`. Send an id of your
own to find a request again in the logs.

## Rate limit

A server answers 600 requests per minute of an API key, and as many of an account with all its access
tokens, unless its operator has set another number. They may come all at once. Each answer to a credential says
what is left: \`RateLimit: "default";r=599;t=1\`, with \`r\` requests that may follow at once, and \`t\`
seconds until the quota is whole again. A request over the limit is answered 429 \`rate_limited\` with
\`Retry-After\`, and nothing of it is done.

## Pagination

Lists answer \`{ "data": [...], "next_cursor": "..." }\`, newest first. Pass \`next_cursor\` as \`cursor\` for
the next page until it is null. A page holds 20 records unless \`limit\` says otherwise, at most 100.

## Idempotency

Operations that create or run something take an \`Idempotency-Key\` header, so that a request may be sent
again when its answer was lost: within 24 hours the same key with the same body gives the first answer
again, with the header \`Idempotent-Replayed: true\`. With another body the answer is 422 \`idempotency_mismatch\`: do
not repeat that request. While the first request is still in progress, it is 409 \`idempotency_in_progress\`: repeat
the request after \`Retry-After\`. Creating an API key or a worker takes none, because
its answer holds a secret that is not kept.

## Formats

JSON in UTF-8 with snake_case fields, bodies of at most 1 MiB. Ids are UUIDs, times are ISO 8601 in UTC.
A request with a field or a query parameter that is not described here is refused with 422, also where an
operation takes none at all. An empty body and \`{}\` say nothing, and are accepted everywhere but with GET.

## Versioning

The version is the \`/v1\` of the path. Within it nothing is removed or changes its meaning; answers may
gain fields, enumerations may gain values and new errors may appear, so ignore what you do not know.
An operation that will go says so a year before, in the headers \`Deprecation\` and \`Sunset\`.
Operations that are marked \`x-internal\` are only for the control panel and may change in any version.
`.trim()
