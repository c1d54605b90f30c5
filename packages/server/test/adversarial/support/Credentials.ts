import { type Scope, scopes } from "@scheduling/domain/api-keys/Scope"
import { Context, Effect, Layer } from "effect"
import { type Role, roles } from "@scheduling/domain/members/Role"
import {
  ask,
  createKey,
  createServiceAccount,
  newMember,
  signUp,
  obtainToken
} from "../../support/http.ts"
import { leap } from "../../support/leap.ts"
import type { TestApp } from "../../support/TestApp.ts"

/** The properties of a credential that determine its access. */
export type CredentialAccess =
  | { readonly kind: "none" | "dead token" | "dead key" }
  | { readonly kind: "token"; readonly role: Role | null; readonly isPerson: boolean }
  | { readonly kind: "key"; readonly isMember: boolean; readonly scopes: ReadonlyArray<Scope> }

export type PresentedCredential = CredentialAccess & {
  readonly name: string
  readonly token: string | undefined
}

/** Credentials of every kind, and the workspace that they are used in. */
export class Credentials extends Context.Service<
  Credentials,
  {
    readonly workspace_id: string
    readonly presented: ReadonlyArray<PresentedCredential>
  }
>()("@scheduling/server/test/Credentials") {
  static readonly layer: Layer.Layer<Credentials, never, TestApp> = Layer.effect(
    Credentials,
    Effect.gen(function* () {
      const early = yield* signUp()
      const expiring = yield* createKey(early, { scopes, expires_in_days: 1 })
      // Access tokens are created after the clock has moved, because they expire within a day.
      yield* leap("1 day")

      const [member, stranger, gone] = yield* Effect.all([signUp(), signUp(), signUp()])
      yield* ask("POST", "/v1/auth/logout", { token: gone.access_token })

      const keyWith = (...granted: ReadonlyArray<Scope>) =>
        Effect.map(createKey(member, { scopes: granted }), ({ key }) => key)

      const revoked = yield* createKey(member, { scopes })
      yield* ask("POST", `${member.workspace}/api-keys/${revoked.id}/revoke`, {
        token: member.access_token
      })
      const deleted = yield* createKey(member, { scopes })
      yield* ask("DELETE", `${member.workspace}/api-keys/${deleted.id}`, {
        token: member.access_token
      })
      const strangersKey = yield* createKey(stranger, { scopes })

      const allScopes = yield* keyWith(...scopes)
      const oneScope = yield* Effect.forEach(scopes, (scope) =>
        Effect.map(keyWith(scope), (token): PresentedCredential => ({
          name: `a key with ${scope} alone`,
          kind: "key",
          token,
          isMember: true,
          scopes: [scope]
        }))
      )
      const allButOne = yield* Effect.forEach(scopes, (missing) => {
        const others = scopes.filter((scope) => scope !== missing)
        return Effect.map(keyWith(...others), (token): PresentedCredential => ({
          name: `a key with every scope but ${missing}`,
          kind: "key",
          token,
          isMember: true,
          scopes: others
        }))
      })

      const colleagues = yield* Effect.forEach(roles, (role) =>
        Effect.map(newMember(member, role), (colleague): PresentedCredential => ({
          name: `a member who is ${role}`,
          kind: "token",
          token: colleague.access_token,
          role,
          isPerson: true
        }))
      )

      const serviceRoles = roles.filter((role) => role !== "owner")
      const tools = yield* Effect.forEach(serviceRoles, (role) =>
        Effect.map(
          Effect.flatMap(createServiceAccount(member, role), obtainToken),
          (token): PresentedCredential => ({
            name: `a service account that is ${role}`,
            kind: "token",
            token,
            role,
            isPerson: false
          })
        )
      )
      const strangersTool = yield* obtainToken(yield* createServiceAccount(stranger))
      const removedTool = yield* createServiceAccount(member)
      const removedToken = yield* obtainToken(removedTool)
      yield* ask("DELETE", `${member.workspace}/service-accounts/${removedTool.client_id}`, {
        token: member.access_token
      })
      const rotatedTool = yield* createServiceAccount(member)
      const rotatedToken = yield* obtainToken(rotatedTool)
      yield* ask("POST", `${member.workspace}/service-accounts/${rotatedTool.client_id}/rotate`, {
        token: member.access_token
      })

      return Credentials.of({
        workspace_id: member.workspace_id,
        presented: [
          { name: "none", kind: "none", token: undefined },
          { name: "junk", kind: "dead token", token: "junk" },
          { name: "a refresh token", kind: "dead token", token: member.refresh_token },
          { name: "a token of an ended session", kind: "dead token", token: gone.access_token },
          { name: "an expired token", kind: "dead token", token: early.access_token },
          { name: "a key of the wrong form", kind: "dead key", token: "pak_junk" },
          { name: "a key nobody made", kind: "dead key", token: `pak_${"A".repeat(43)}` },
          { name: "an expired key", kind: "dead key", token: expiring.key },
          { name: "a revoked key", kind: "dead key", token: revoked.key },
          { name: "a deleted key", kind: "dead key", token: deleted.key },
          { name: "a client secret", kind: "dead token", token: rotatedTool.client_secret },
          { name: "a token of a removed tool", kind: "dead token", token: removedToken },
          { name: "a token of a rotated secret", kind: "dead token", token: rotatedToken },
          {
            name: "a stranger",
            kind: "token",
            token: stranger.access_token,
            role: null,
            isPerson: true
          },
          {
            name: "a service account of another workspace",
            kind: "token",
            token: strangersTool,
            role: null,
            isPerson: false
          },
          ...colleagues,
          ...tools,
          {
            name: "a key of another workspace",
            kind: "key",
            token: strangersKey.key,
            isMember: false,
            scopes
          },
          { name: "a key with all scopes", kind: "key", token: allScopes, isMember: true, scopes },
          ...oneScope,
          ...allButOne
        ]
      })
    })
  )
}
