// @tags slow
import { assert, describe, it, layer } from "@effect/vitest"
import { Api } from "@scheduling/domain/Api"
import { Access, type AccessRule } from "@scheduling/domain/shared/Access"
import { Context, Effect, Layer, Option } from "effect"
import { HttpApi } from "effect/http-api"
import { SqlClient } from "effect/sql"
import type { Role } from "@scheduling/domain/members/Role"
import { type Answer, ask, statusAndError, signUp, textWithoutRequestId } from "../support/http.ts"
import { testAppLayer } from "../support/TestApp.ts"
import { Credentials, type CredentialAccess } from "./support/Credentials.ts"

interface Endpoint {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly access: AccessRule | undefined
}

const endpoints: Array<Endpoint> = []
HttpApi.reflect(Api, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, group }) => {
    endpoints.push({
      name: `${group.identifier}.${endpoint.identifier}`,
      method: endpoint.method,
      path: endpoint.path,
      access: Option.getOrUndefined(Context.getOption(endpoint.annotations, Access))
    })
  }
})

const isInWorkspace = ({ path }: Endpoint) => path.includes(":workspace_id")
const isUnderAuth = ({ path }: Endpoint) => path.startsWith("/v1/auth/")

/** Returns the accepted scopes. A key needs at least one of them. */
const acceptedScopes = (access: AccessRule | undefined): ReadonlyArray<string> =>
  access?.kind === "scope" ? [access.scope] : access?.kind === "any_scope" ? access.scopes : []

const ranks: Readonly<Record<Role, number>> = { viewer: 0, editor: 1, admin: 2, owner: 3 }

/**
 * Returns the required role. Any role is allowed to read, except for API keys, members and similar
 * records, which require the role that the endpoint names.
 */
const neededRole = ({ access, method }: Endpoint): Role => {
  if (acceptedScopes(access).length > 0) return method === "GET" ? "viewer" : "editor"
  return access?.kind === "jwt" ? (access.role ?? "viewer") : "viewer"
}

/**
 * Only human users have accounts and workspaces, and a service account cannot leave a workspace.
 */
const isForPeople = ({ access, name, path }: Endpoint): boolean =>
  (access?.kind === "jwt" && !path.includes(":workspace_id")) || name === "members.leave"

/** The access that the contract promises, determined independently of the server's code. */
const promised = (endpoint: Endpoint, presented: CredentialAccess): string => {
  const { access } = endpoint
  if (access?.kind === "public") {
    if (!isUnderAuth(endpoint)) return "let in"
    if (presented.kind === "dead key") return "401 invalid_api_key"
    return presented.kind === "key" ? "403 jwt_only" : "let in"
  }
  switch (presented.kind) {
    case "none":
      return "401 missing_credentials"
    case "dead token":
      return "401 invalid_token"
    case "dead key":
      return "401 invalid_api_key"
    case "token":
      if (!presented.isPerson && isForPeople(endpoint)) return "403 person_only"
      if (!isInWorkspace(endpoint)) return "let in"
      if (presented.role === null) return "404 not_found"
      return ranks[presented.role] < ranks[neededRole(endpoint)] ? "403 forbidden" : "let in"
    case "key":
      if (access?.kind === "jwt") return "403 jwt_only"
      if (isInWorkspace(endpoint) && !presented.isMember) return "403 workspace_forbidden"
      if (isLackingScope(access, presented.scopes)) return "403 insufficient_scope"
      return "let in"
  }
}

const isLackingScope = (access: AccessRule | undefined, scopes: ReadonlyArray<string>): boolean => {
  const accepted = acceptedScopes(access)
  return accepted.length > 0 && !accepted.some((scope) => scopes.includes(scope))
}

const challenges: Readonly<Record<string, (endpoint: Endpoint) => string | null>> = {
  "401 missing_credentials": () => "Bearer",
  "401 invalid_token": () => 'Bearer error="invalid_token"',
  "401 invalid_api_key": () => 'Bearer error="invalid_token"',
  "403 forbidden": () => null,
  "403 jwt_only": () => null,
  "403 person_only": () => null,
  "403 workspace_forbidden": () => null,
  "404 not_found": () => null,
  "403 insufficient_scope": ({ access }) =>
    `Bearer error="insufficient_scope", scope="${acceptedScopes(access)[0] ?? ""}"`
}

const nobodysId = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"

/**
 * Returns a request whose ids are all unknown except the workspace's, so that an accepted request
 * has as little effect as possible.
 */
const plain = (endpoint: Endpoint, workspaceId: string) => ({
  path: urlOf(endpoint, workspaceId, nobodysId),
  ...(endpoint.method === "GET" ? {} : { body: {} })
})

/**
 * Returns a request whose ids, query, content type and body are invalid. All of these are checked
 * after access.
 */
const broken = (endpoint: Endpoint, workspaceId: string) => ({
  path: `${urlOf(endpoint, workspaceId, "no-uuid")}?limit=0&nonsense=1`,
  ...(endpoint.method === "GET" ? {} : { body: "{", headers: { "content-type": "text/plain" } })
})

const urlOf = ({ path }: Endpoint, workspaceId: string, id: string) =>
  path.replace(":workspace_id", workspaceId).replaceAll(/:\w+/g, id)

const assertPromised = (endpoint: Endpoint, answer: Answer, promise: string, name: string) => {
  const { body, headers, status, text } = answer
  if (promise === "let in") {
    assert.notInclude([401, 403], status, `${name}: ${text}`)
    assert.notStrictEqual(body?.detail?.resource, "workspace", name)
    return
  }
  assert.strictEqual(statusAndError(answer), promise, name)
  assert.strictEqual(headers.get("www-authenticate"), challenges[promise]?.(endpoint) ?? null, name)
  if (promise === "403 insufficient_scope") {
    assert.strictEqual(body.detail.required_scope, acceptedScopes(endpoint.access)[0], name)
  }
  if (promise === "403 forbidden") {
    assert.strictEqual(body.detail.required_role, neededRole(endpoint), name)
  }
  if (promise === "404 not_found") assert.strictEqual(body.detail.resource, "workspace", name)
}

describe("Declared access", () => {
  it("is declared on every endpoint", () => {
    assert.deepStrictEqual(
      endpoints.filter(({ access }) => access === undefined).map(({ name }) => name),
      []
    )
  })

  it("requires a :read scope for a GET, and otherwise a :write scope", () => {
    for (const { access, method, name } of endpoints) {
      for (const scope of acceptedScopes(access)) {
        assert.match(scope, method === "GET" ? /:read$/ : /:write$/, name)
      }
    }
  })

  it("names the required role for endpoints of a workspace that API keys cannot use", () => {
    for (const endpoint of endpoints.filter(isInWorkspace)) {
      if (endpoint.access?.kind === "jwt") assert.isNotNull(endpoint.access.role, endpoint.name)
    }
  })

  it("accepts no API key under /v1/auth", () => {
    for (const endpoint of endpoints.filter(isUnderAuth)) {
      assert.include(["public", "jwt"], endpoint.access?.kind, endpoint.name)
    }
  })

  it("is public only for sign-ins, leaked keys and tokens, plans and health", () => {
    assert.deepStrictEqual(
      endpoints.filter(({ access }) => access?.kind === "public").map(({ name }) => name),
      [
        "auth.getOptions",
        "auth.register",
        "auth.login",
        "auth.refresh",
        "auth.forgotPassword",
        "auth.resetPassword",
        "auth.verifyEmail",
        "invitations.preview",
        "apiKeys.revokeLeaked",
        "billing.listPlans",
        "workers.revokeLeaked",
        "system.health",
        "system.ready"
      ]
    )
  })
})

layer(Credentials.layer.pipe(Layer.provideMerge(testAppLayer())))("Access", (it) => {
  describe.each(endpoints)("to $method $path", (endpoint) => {
    it.effect("is what the endpoint declares, before anything else is checked", () =>
      Effect.gen(function* () {
        const { presented, workspace_id } = yield* Credentials
        yield* Effect.forEach(
          presented,
          Effect.fnUntraced(function* ({ name, token, ...one }) {
            const promise = promised(endpoint, one)
            // An accepted request could end the token's own session. The next test covers this with
            // a separate token.
            if (promise === "let in" && one.kind === "token") return
            for (const request of [plain, ...(promise === "let in" ? [] : [broken])]) {
              const { path, ...rest } = request(endpoint, workspace_id)
              const answer = yield* ask(endpoint.method, path, { token, ...rest })
              assertPromised(endpoint, answer, promise, name)
            }
          }),
          { concurrency: 8, discard: true }
        )
      })
    )

    it.effect("is granted to a member with the lowest sufficient role", () =>
      Effect.gen(function* () {
        const { access_token, workspace_id } = yield* signUp()
        const { path, ...rest } = plain(endpoint, workspace_id)
        const sql = yield* SqlClient.SqlClient
        yield* sql`
          UPDATE memberships
          SET role = ${neededRole(endpoint)}
          WHERE workspace_id = ${workspace_id}`
        const answer = yield* ask(endpoint.method, path, { token: access_token, ...rest })
        assertPromised(endpoint, answer, "let in", "a member")
      })
    )
  })

  it.effect.each(endpoints.filter(isInWorkspace))(
    "does not reveal whether another workspace exists at $method $path",
    (endpoint) =>
      Effect.gen(function* () {
        const { presented, workspace_id } = yield* Credentials
        for (const one of presented) {
          if (one.kind === "token" ? one.role !== null : one.kind !== "key" || one.isMember)
            continue
          const answers = yield* Effect.forEach(
            [workspace_id, nobodysId, "no-uuid", "%20"],
            (id) => {
              const { path, ...rest } = plain(endpoint, id)
              return ask(endpoint.method, path, { token: one.token, ...rest })
            }
          )
          const [first] = answers.map(textWithoutRequestId)
          for (const answer of answers) {
            assertPromised(endpoint, answer, promised(endpoint, one), one.name)
            assert.strictEqual(textWithoutRequestId(answer), first)
          }
        }
      })
  )
})
