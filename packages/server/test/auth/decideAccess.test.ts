import { assert, describe, it } from "@effect/vitest"
import { type Scope, scopes } from "@scheduling/domain/api-keys/Scope"
import type { ApiKeyCaller, UserCaller } from "@scheduling/domain/auth/Caller"
import { Access, type AccessRule } from "@scheduling/domain/shared/Access"
import { ApiKeyId, SessionId, UserId, WorkspaceId } from "@scheduling/domain/shared/Ids"
import { decideAccess, type PathWorkspace } from "../../src/auth/decideAccess.ts"

const own = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41"
const other = "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d42"

const user: UserCaller = {
  kind: "jwt",
  user_id: UserId.make(own),
  session_id: SessionId.make(own)
}

const key = (granted: ReadonlyArray<Scope>): ApiKeyCaller => ({
  kind: "api_key",
  api_key_id: ApiKeyId.make(own),
  workspace_id: WorkspaceId.make(own),
  key_prefix: "pak_AAAAAAAA",
  scopes: granted,
  expires_at: null
})

const rules: ReadonlyArray<AccessRule> = [
  Access.public,
  Access.jwt,
  Access.credential,
  ...scopes.map(Access.scope)
]

/** No workspace in the path, the caller's own, and others; malformed ones are nobody's. */
const paths: ReadonlyArray<PathWorkspace | undefined> = [
  undefined,
  ...[true, false].flatMap((is_member) =>
    [own, own.toUpperCase(), other, "", "not-a-uuid"].map((id) => ({ id, is_member }))
  )
]

const subsets = <A>(list: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: 2 ** list.length }, (_, bits) =>
    list.filter((_item, index) => (bits & (1 << index)) !== 0)
  )

const isOwn = (path: PathWorkspace | undefined) =>
  path === undefined || path.id.toLowerCase() === own

const decide = (...args: Parameters<typeof decideAccess>) =>
  decideAccess(...args)?._tag ?? "allowed"

describe("decideAccess", () => {
  it("lets a user do everything in the workspaces they are a member of, and see no other", () => {
    for (const rule of rules) {
      for (const path of paths) {
        assert.strictEqual(
          decide(rule, user, path),
          path === undefined || path.is_member ? "allowed" : "NotFound",
          JSON.stringify({ rule, path })
        )
      }
    }
  })

  it("gives an API key no more than its own workspace and its scopes, in that order", () => {
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

  it("lets no key past the missing scope, whatever others it has, and names what is missing", () => {
    for (const scope of scopes) {
      const others = scopes.filter((granted) => granted !== scope)
      const refusal = decideAccess(Access.scope(scope), key(others), undefined)
      assert.strictEqual(refusal?._tag, "InsufficientScope")
      assert.deepInclude(refusal, { required_scope: scope })
      assert.strictEqual(decide(Access.scope(scope), key([scope]), undefined), "allowed")
    }
  })

  it("does not care for a membership when the caller is a key", () => {
    for (const is_member of [true, false]) {
      const rule = Access.scope("tasks:read")
      assert.strictEqual(
        decide(rule, key(["tasks:read"]), { id: other, is_member }),
        "WorkspaceForbidden"
      )
      assert.strictEqual(decide(rule, key(["tasks:read"]), { id: own, is_member }), "allowed")
    }
  })
})
