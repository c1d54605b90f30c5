// @tags slow
import { assert, describe, it as plainly, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { secretRegExp } from "@scheduling/domain/auth/secretPatterns"
import { TestClock } from "effect/testing"
import {
  ask,
  createKey,
  type Member,
  password,
  randomEmail,
  randomIp,
  signUp
} from "../support/http.ts"
import { unknownId } from "../support/routes.ts"
import { inState } from "../engine/transitions/inState.ts"
import { testAppLayer } from "../support/TestApp.ts"
import { linkTokenFor } from "../accounts/email/linkTokenFor.ts"
import { currentCode, confirmTotp, startTotp } from "../accounts/totp/totp.ts"
import { type Endpoint, endpoints } from "./support/contract.ts"
import { createOwner } from "./support/createOwner.ts"

/**
 * Endpoints that need a mail server are tested in `accounts/passwords/reset.test.ts` and
 * `accounts/email/links.test.ts`. Endpoints that need paid plans are tested in
 * `billing/lifecycle.test.ts`.
 */
const byMail = new Set(["auth.forgotPassword", "auth.resendEmailLink"])

const isForKeys = ({ access }: Endpoint) => access.kind === "scope" || access.kind === "any_scope"

/**
 * Endpoints that API keys cannot use, because they concern API keys, members, sessions or
 * passwords.
 */
const sensitive = endpoints.filter(
  (endpoint) =>
    endpoint.method !== "GET" &&
    !isForKeys(endpoint) &&
    !byMail.has(endpoint.name) &&
    !endpoint.name.startsWith("billing.")
)

/**
 * Refreshes happen every few minutes and change no permissions, so only a token's reuse is audited.
 * A preview only reads, although its token is in the body.
 */
const silent = ["auth.refresh", "invitations.preview"]

const tokenFor = ({ example = {}, name }: Endpoint, member: Member) => {
  if (!("token" in example)) return Effect.succeed("")
  if (name === "workers.revokeLeaked") return workerTokenFor(member)
  if (name === "auth.resetPassword") return linkTokenFor("password reset", member)
  return name === "auth.verifyEmail" ? linkTokenFor("email", member) : invitationFor(member)
}

const workerTokenFor = ({ access_token: token, workspace }: Member) =>
  Effect.map(
    ask("POST", `${workspace}/workers`, { token, body: { name: "a worker" } }),
    ({ body }) => String(body.token)
  )

/** Creates an invitation to another person's workspace, and returns its token. */
const invitationFor = Effect.fnUntraced(function* ({ email }: Member) {
  const other = yield* signUp()
  const { body } = yield* ask("POST", `${other.workspace}/invitations`, {
    token: other.access_token,
    body: { email, role: "viewer" }
  })
  return String(body.token)
})

/** Returns a valid code for the account's second factor if the endpoint requires one. */
const codeFor = Effect.fnUntraced(function* ({ example = {}, name }: Endpoint, member: Member) {
  if (!("code" in example)) return ""
  const secret = yield* startTotp(member)
  if (name === "totp.confirm") return yield* currentCode(secret)
  const [recoveryCode] = yield* confirmTotp(member, secret)
  return recoveryCode ?? ""
})

const decisions = new Set(["executions.approve", "executions.reject"])

/** Starts a run in the workspace that waits for approval, and returns its id. */
const awaitApproval = Effect.fnUntraced(function* ({ workspace_id }: Member) {
  const sql = yield* SqlClient.SqlClient
  const pause = { kind: "approve", message: null, channel_ids: [], approvers: [] }
  const [run] = yield* sql<{ readonly id: string }>`
    UPDATE runs
    SET
      ${sql.update(inState("awaiting"))},
      pause = ${JSON.stringify(pause)}::jsonb
    WHERE id = (
      SELECT id
      FROM runs
      WHERE workspace_id = ${workspace_id}
      LIMIT 1
    )
    RETURNING id`
  return run?.id ?? ""
})

/** Endpoints that require no credential. Their events have no actor. */
const anonymous = new Set(["apiKeys.revokeLeaked", "workers.revokeLeaked"])

/** Adapts the example body to this member. */
const bodyFor = (
  { example, name }: Endpoint,
  {
    code,
    key,
    member,
    token
  }: {
    readonly member: Member
    readonly code: string
    readonly key: string
    readonly token: string
  }
) => {
  if (example === undefined) return undefined
  const own = {
    email: name === "auth.login" ? member.email : randomEmail(),
    password,
    current_password: password,
    new_password: "another long password",
    refresh_token: member.refresh_token,
    key,
    token,
    code
  }
  return {
    ...example,
    ...Object.fromEntries(Object.entries(own).filter(([field]) => field in example))
  }
}

const lastId = /[\da-f-]{36}(?!.*[\da-f-]{36})/

const secretsIn = (text: string): ReadonlyArray<string> =>
  [secretRegExp, /whsec_[\w+/=]{20,}/g].flatMap((form) => text.match(form) ?? [])

describe("the contract", () => {
  plainly("changes keys, sessions, passwords and secrets in these places", () => {
    assert.includeMembers(
      sensitive.map(({ name }) => name),
      ["auth.changePassword", "apiKeys.create", "workspaces.rotateSigningSecret", ...silent]
    )
  })
})

layer(testAppLayer())("The audit log", (it) => {
  it.effect.each(sensitive)(
    "has the actor, the action, the time and the address of $method $path",
    (endpoint) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { member, pathOf } = yield* createOwner
        const path = decisions.has(endpoint.name)
          ? (yield* pathOf(endpoint)).replace(lastId, yield* awaitApproval(member))
          : yield* pathOf(endpoint)
        const leaked = yield* createKey(member)
        const token = yield* tokenFor(endpoint, member)
        yield* TestClock.adjust("1 minute")
        const ip = randomIp()
        const request_id = `audit-${endpoint.name}`
        const code = yield* codeFor(endpoint, member)
        if (endpoint.name === "secrets.delete") {
          const body = { value: "a value", allowed_hosts: ["api.example.com"] }
          yield* ask("PUT", path, { token: member.access_token, body })
        }
        if (endpoint.name === "workspaces.resume") {
          yield* ask("POST", path.replace("resume", "stop"), { token: member.access_token })
        }
        if (endpoint.name === "workers.resume") {
          yield* ask("POST", path.replace("resume", "pause"), { token: member.access_token })
        }
        const [known] = yield* sql<{ last: string }>`SELECT max(id::text) AS last FROM audit_events`
        const body = bodyFor(endpoint, { member, key: leaked.key, token, code })
        const answer = yield* ask(endpoint.method, path, {
          ...(endpoint.access.kind === "public" ? {} : { token: member.access_token }),
          ...(body === undefined ? {} : { body }),
          headers: { "x-forwarded-for": ip, "x-request-id": request_id }
        })
        assert.isBelow(answer.status, 300, answer.text)

        const events = yield* sql<{
          action: string
          actor_id: string | null
          workspace_id: string | null
          user_id: string | null
          ip: string | null
          request_id: string | null
          created_at: Date
          row: string
        }>`
        SELECT *, audit_events::text AS row
        FROM audit_events
        WHERE id::text > ${known?.last ?? ""}`
        if (silent.includes(endpoint.name)) {
          assert.deepStrictEqual(events, [])
          return
        }
        assert.isNotEmpty(events)
        const actor = anonymous.has(endpoint.name)
          ? null
          : (answer.body?.user?.id ?? member.user_id)
        for (const event of events) {
          assert.match(event.action, /^[a-z_]+\.[a-z_]+$/)
          assert.deepInclude(event, { actor_id: actor, ip, request_id })
          assert.strictEqual(event.created_at.getTime(), yield* Clock.currentTimeMillis)
          assert.isNotNull(event.workspace_id ?? event.user_id)
          const secrets = [
            member.access_token,
            member.refresh_token,
            password,
            "another long password",
            ...secretsIn(answer.text)
          ]
          for (const secret of secrets) {
            assert.isFalse(event.row.includes(secret.replace(/^(?:pak|whsec)_/, "")))
          }
        }
      })
  )

  it.effect.each(sensitive)("has no event of a failed request at $method $path", (endpoint) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { member, pathOf } = yield* createOwner
      const count = sql<{ events: number }>`SELECT count(*)::int AS events FROM audit_events`
      const path = yield* pathOf(endpoint)
      const before = yield* count
      const token = member.access_token
      const refused = [
        ...(endpoint.access.kind === "public" ? [] : [{ path, token: undefined }]),
        ...(endpoint.schema === undefined ? [] : [{ path, token, body: { nonsense: 1 } }]),
        ...(/:\w+/.test(endpoint.path)
          ? [
              {
                path: path.replace(lastId, unknownId),
                token,
                body: endpoint.example
              }
            ]
          : [])
      ]
      assert.isNotEmpty(refused)
      for (const { path: at, ...options } of refused) {
        const answer = yield* ask(endpoint.method, at, options)
        assert.include([401, 404, 422], answer.status, answer.text)
      }
      assert.deepStrictEqual(yield* count, before)
    })
  )
})
