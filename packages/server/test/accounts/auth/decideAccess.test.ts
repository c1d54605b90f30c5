import { assert, describe, it } from "@effect/vitest"
import { type Scope, scopes } from "@scheduling/domain/api-keys/Scope"
import type { ApiKeyPrincipal, UserPrincipal } from "@scheduling/domain/auth/Principal"
import { Access, type AccessRule } from "@scheduling/domain/shared/Access"
import { type Role, roles } from "@scheduling/domain/members/Role"
import { ApiKeyId, SessionId, UserId } from "@scheduling/domain/shared/Ids"
import { authorize } from "../../../src/accounts/access/authorize.ts"
import { decideAccess, type PathWorkspace } from "../../../src/accounts/auth/decideAccess.ts"

const own = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"
const other = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d42"

const user: UserPrincipal = {
  kind: "jwt",
  user_id: UserId.make(own),
  session_id: SessionId.make(own),
  lane: 0n,
  role: null,
  name: null,
  service_account: null
}

const key = (granted: ReadonlyArray<Scope>): ApiKeyPrincipal => ({
  kind: "api_key",
  api_key_id: ApiKeyId.make(own),
  workspace_id: authorize(own),
  lane: 0n,
  name: "CI",
  key_prefix: "pak_AAAAAAAA",
  scopes: granted,
  expires_at: null
})

const rules: ReadonlyArray<AccessRule> = [
  Access.public,
  Access.jwt,
  ...roles.map(Access.role),
  ...roles.map(Access.personWithRole),
  Access.credential,
  ...scopes.map(Access.scope)
]

/** Workspaces in the path: none, the principal's own, other workspaces, and malformed ids. */
const paths: ReadonlyArray<PathWorkspace | undefined> = [
  undefined,
  ...[...roles, null].flatMap((role) =>
    [own, own.toUpperCase(), other, "", "not-a-uuid"].map((id) => ({ id, role }))
  )
]

const writes = new Set(scopes.filter((scope) => scope.endsWith(":write")))
const refusedTo = (refused: ReadonlyArray<Role>, isReader: boolean) => (rule: AccessRule) =>
  (rule.kind === "jwt" && rule.role !== null && refused.includes(rule.role)) ||
  (rule.kind === "scope" && isReader && writes.has(rule.scope))
    ? "Forbidden"
    : "allowed"

/** The decisions for members who are not owners. */
const forRole = {
  viewer: refusedTo(["editor", "admin", "owner"], true),
  editor: refusedTo(["admin", "owner"], false),
  admin: refusedTo(["owner"], false)
}

const subsets = <A>(list: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: 2 ** list.length }, (_, bits) =>
    list.filter((_item, index) => (bits & (1 << index)) !== 0)
  )

const isOwn = (path: PathWorkspace | undefined) =>
  path === undefined || path.id.toLowerCase() === own

const decide = (...args: Parameters<typeof decideAccess>) =>
  decideAccess(...args)?._tag ?? "allowed"

describe("decideAccess", () => {
  it("gives users what their role allows, and hides other workspaces", () => {
    for (const rule of rules) {
      for (const path of paths) {
        assert.strictEqual(
          decide(rule, user, path),
          path === undefined || path.role === "owner"
            ? "allowed"
            : path.role === null
              ? "NotFound"
              : forRole[path.role](rule),
          JSON.stringify({ rule, path })
        )
      }
    }
  })

  it("gives service accounts the same access, except to what only human users may do", () => {
    const tool = { ...user, service_account: "a tool" }
    for (const rule of rules) {
      for (const path of paths) {
        assert.strictEqual(
          decide(rule, tool, path),
          rule.kind === "jwt" && rule.isForPeople ? "PersonOnly" : decide(rule, user, path),
          JSON.stringify({ rule, path })
        )
      }
    }
  })

  it("checks the workspace of an API key first, and then its scopes", () => {
    for (const granted of subsets(scopes)) {
      for (const rule of rules) {
        for (const path of paths) {
          const expected =
            rule.kind === "jwt" || rule.kind === "public"
              ? "JwtOnly"
              : !isOwn(path)
                ? "WorkspaceForbidden"
                : rule.kind === "scope" && !granted.includes(rule.scope)
                  ? "InsufficientScope"
                  : "allowed"
          const decided = decide(rule, key(granted), path)
          if (decided !== expected) assert.fail(JSON.stringify({ granted, rule, path, decided }))
        }
      }
    }
  })

  it("rejects a key without the scope, and names the missing scope", () => {
    for (const scope of scopes) {
      const others = scopes.filter((granted) => granted !== scope)
      const refusal = decideAccess(Access.scope(scope), key(others), undefined)
      assert.strictEqual(refusal?._tag, "InsufficientScope")
      assert.deepInclude(refusal, { required_scope: scope })
      assert.strictEqual(decide(Access.scope(scope), key([scope]), undefined), "allowed")
    }
  })

  it("ignores memberships for API keys", () => {
    for (const role of [...roles, null]) {
      const rule = Access.scope("tasks:read")
      assert.strictEqual(
        decide(rule, key(["tasks:read"]), { id: other, role }),
        "WorkspaceForbidden"
      )
      assert.strictEqual(decide(rule, key(["tasks:read"]), { id: own, role }), "allowed")
    }
  })
})
