// @tags slow
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { scopes } from "@scheduling/domain/api-keys/Scope"
import {
  ask,
  createKey,
  newMember,
  type Member,
  statusAndError,
  password,
  signUp
} from "../support/http.ts"
import { type RawResponse, sendBodyLate } from "../support/rawHttp.ts"
import { urlWithIds } from "../support/routes.ts"
import { testAppLayer } from "../support/TestApp.ts"
import { type Endpoint, endpoints, isInWorkspace } from "./support/contract.ts"

const withBody = endpoints.filter(
  ({ access, schema }) => schema !== undefined && access.kind !== "public"
)
const inWorkspace = withBody.filter(isInWorkspace)
const forKeys = inWorkspace.filter(({ access }) => access.kind === "scope")

/** Only the workspace id is valid, because access is checked before the other ids. */
const requestLine = ({ method, path }: Endpoint, workspaceId: string) =>
  `${method} ${urlWithIds(path, { workspace_id: workspaceId })}`

const bodyOf = ({ example = {} }: Endpoint) => JSON.stringify(example)

const refusal = ({ body, status }: RawResponse) =>
  [status, body?.detail?.error, body?.detail?.resource]
    .filter((part) => part !== undefined)
    .join(" ")

/** Creates two owners. The second owner makes the requests. */
const twoOwners = Effect.gen(function* () {
  const owner = yield* signUp()
  return { owner, colleague: yield* newMember(owner, "owner") }
})

const late = (
  endpoint: Endpoint,
  { token, workspace_id }: { readonly token: string; readonly workspace_id: string },
  meanwhile: ReturnType<typeof ask>
) =>
  sendBodyLate(
    requestLine(endpoint, workspace_id),
    { token, body: bodyOf(endpoint) },
    Effect.tap(meanwhile, ({ status, text }) =>
      Effect.sync(() => assert.isBelow(status, 300, text))
    )
  )

const logout = ({ access_token }: Member) => ask("POST", "/v1/auth/logout", { token: access_token })

const changePassword = ({ access_token }: Member) =>
  ask("POST", "/v1/auth/password", {
    token: access_token,
    body: { current_password: password, new_password: "another long password" }
  })

layer(testAppLayer())("A body that arrives after the access check", (it) => {
  it.effect.each(inWorkspace)("is rejected for a removed member: $method $path", (endpoint) =>
    Effect.gen(function* () {
      const { colleague, owner } = yield* twoOwners
      const answer = yield* late(
        endpoint,
        { token: colleague.access_token, workspace_id: owner.workspace_id },
        ask("DELETE", `${owner.workspace}/members/${colleague.user_id}`, {
          token: owner.access_token
        })
      )
      assert.strictEqual(refusal(answer), "404 not_found workspace")
    })
  )

  it.effect.each(inWorkspace)("is rejected for a lowered role: $method $path", (endpoint) =>
    Effect.gen(function* () {
      const { colleague, owner } = yield* twoOwners
      const answer = yield* late(
        endpoint,
        { token: colleague.access_token, workspace_id: owner.workspace_id },
        ask("PATCH", `${owner.workspace}/members/${colleague.user_id}`, {
          token: owner.access_token,
          body: { role: "viewer" }
        })
      )
      assert.strictEqual(refusal(answer), "403 forbidden")
    })
  )

  it.effect.each(withBody)("is rejected after a logout: $method $path", (endpoint) =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const known = { token: member.access_token, workspace_id: member.workspace_id }
      assert.strictEqual(refusal(yield* late(endpoint, known, logout(member))), "401 invalid_token")
    })
  )

  it.effect.each(withBody)(
    "is rejected after a change of the password: $method $path",
    (endpoint) =>
      Effect.gen(function* () {
        const member = yield* signUp()
        const known = { token: member.access_token, workspace_id: member.workspace_id }
        const answer = yield* late(endpoint, known, changePassword(member))
        assert.strictEqual(refusal(answer), "401 invalid_token")
      })
  )

  it.effect.each(forKeys)("is rejected for a revoked key: $method $path", (endpoint) =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { id, key } = yield* createKey(member, { scopes })
      const answer = yield* late(
        endpoint,
        { token: key, workspace_id: member.workspace_id },
        ask("POST", `${member.workspace}/api-keys/${id}/revoke`, { token: member.access_token })
      )
      assert.strictEqual(refusal(answer), "401 invalid_api_key")
    })
  )

  it.effect("is accepted if the access still holds", () =>
    Effect.gen(function* () {
      const { access_token: token, workspace } = yield* signUp()
      const body = JSON.stringify({ name: "a key", scopes: ["tasks:read"] })
      const created = yield* sendBodyLate(
        `POST ${workspace}/api-keys`,
        { token, body },
        Effect.void
      )
      assert.strictEqual(created.status, 201)
      assert.strictEqual(created.headers.get("cache-control"), "no-store")
      const listed = yield* ask("GET", `${workspace}/api-keys`, { token })
      assert.deepStrictEqual(
        listed.body.data.map((key: { readonly id: string }) => key.id),
        [created.body.id]
      )
    })
  )

  it.effect("does not record the result of a worker whose token has ended", () =>
    Effect.gen(function* () {
      const { access_token: token, workspace } = yield* signUp()
      const worker = yield* ask("POST", `${workspace}/workers`, {
        token,
        body: { name: "a worker" }
      })
      const answer = yield* sendBodyLate(
        "POST /v1/worker/hello",
        { token: String(worker.body.token), body: "{}" },
        ask("DELETE", `${workspace}/workers/${worker.body.id}`, { token })
      )
      assert.strictEqual(
        statusAndError({ ...answer, headers: new Headers(), text: "" }),
        "401 invalid_worker_token"
      )
    })
  )
})
