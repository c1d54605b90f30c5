import { uuidPattern } from "@scheduling/domain/shared/Ids"
import { type Role, roles } from "@scheduling/domain/members/Role"
import { Config, type Redacted, Result, Schema } from "effect"
import { isLoopback } from "./hostNames.ts"

/** The role that a value of the role claim grants in a workspace. */
export interface RoleOfClaim {
  readonly value: string
  readonly workspaceId: string
  readonly role: Role
}

/** The identity provider with which people sign in. */
export interface OidcSettings {
  readonly issuer: string
  readonly clientId: string
  /** If undefined, the client is public and uses only PKCE. */
  readonly clientSecret: Redacted.Redacted | undefined
  /** The name of the provider on the button of the sign-in page. */
  readonly name: string
  readonly scopes: string
  /** If undefined, every domain is allowed. */
  readonly allowedDomains: ReadonlyArray<string> | undefined
  readonly emailVerifiedClaim: string
  /** If undefined, claims grant no roles. */
  readonly roleClaim: string | undefined
  readonly roles: ReadonlyArray<RoleOfClaim>
}

const optional = <A>(config: Config.Config<A>) => Config.withDefault(config, undefined)

/** HTTP is allowed only on this machine, because the provider's keys come from the issuer. */
const Issuer = Schema.String.check(
  Schema.makeFilter(
    (text) => {
      if (!URL.canParse(text) || /[?#@]/.test(text)) return false
      const { hostname, protocol } = new URL(text)
      return protocol === "https:" || (protocol === "http:" && isLoopback(hostname))
    },
    { expected: "an https:// URL without a query" }
  )
)

const ClientSecret = Schema.RedactedFromValue(Schema.NonEmptyString, {
  label: "OIDC_CLIENT_SECRET"
})

export const oidcSettings = Config.all({
  issuer: optional(Config.schema(Issuer, "OIDC_ISSUER")),
  clientId: optional(Config.NonEmptyString("OIDC_CLIENT_ID")),
  clientSecret: optional(Config.schema(ClientSecret, "OIDC_CLIENT_SECRET")),
  name: optional(Config.schema(Schema.NonEmptyString.check(Schema.isMaxLength(40)), "OIDC_NAME")),
  scopes: optional(
    Config.schema(
      Schema.String.check(
        Schema.isPattern(/^openid(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/, {
          expected: "scopes separated by spaces, beginning with openid"
        })
      ),
      "OIDC_SCOPES"
    )
  ),
  allowedDomains: optional(Config.NonEmptyString("OIDC_ALLOWED_DOMAINS")),
  emailVerifiedClaim: optional(Config.NonEmptyString("OIDC_EMAIL_VERIFIED_CLAIM")),
  roleClaim: optional(Config.NonEmptyString("OIDC_ROLE_CLAIM")),
  roles: optional(Config.NonEmptyString("OIDC_ROLES"))
})

/** Validates that the settings of the identity provider are complete and consistent. */
export const checkOidc = (
  {
    allowedDomains,
    clientId,
    emailVerifiedClaim,
    issuer,
    name,
    roleClaim,
    roles,
    scopes,
    ...settings
  }: Config.Success<typeof oidcSettings>,
  publicUrl: string | undefined
): Result.Result<OidcSettings | undefined, string> => {
  if (issuer === undefined || clientId === undefined) {
    const others = { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_ROLES: roles }
    const given = Object.entries(others).find(([, value]) => value !== undefined)
    if (given === undefined) return Result.succeed(undefined)
    const missing = [
      ...(issuer === undefined ? ["OIDC_ISSUER"] : []),
      ...(clientId === undefined ? ["OIDC_CLIENT_ID"] : [])
    ]
    return Result.fail(`${given[0]} needs ${missing.join(" and ")}`)
  }
  if (publicUrl === undefined) {
    return Result.fail("OIDC_ISSUER needs PUBLIC_URL, to which users return from the provider")
  }
  if ((roleClaim === undefined) !== (roles === undefined)) {
    return Result.fail("OIDC_ROLE_CLAIM and OIDC_ROLES must be set together")
  }
  return Result.map(readRoles(roles ?? ""), (rolesOfClaim) => ({
    ...settings,
    issuer,
    clientId,
    name: name ?? "single sign-on",
    scopes: scopes ?? "openid email profile",
    allowedDomains: allowedDomains === undefined ? undefined : itemsOf(allowedDomains),
    emailVerifiedClaim: emailVerifiedClaim ?? "email_verified",
    roleClaim,
    roles: rolesOfClaim
  }))
}

const itemsOf = (list: string) =>
  list
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "")

/**
 * The roles that a claim may grant: all but `owner`. A role that a claim granted ends with the
 * claim, but a workspace must always have an owner.
 */
const grantable: ReadonlySet<string> = new Set(roles.filter((role) => role !== "owner"))

const readRoles = (list: string): Result.Result<ReadonlyArray<RoleOfClaim>, string> => {
  const read = itemsOf(list).map((item) => {
    const [, value, workspaceId = "", role = ""] = /^(.+)=([^=:]+):(\w+)$/.exec(item) ?? []
    return value !== undefined && uuidPattern.test(workspaceId) && grantable.has(role)
      ? { value, workspaceId: workspaceId.toLowerCase(), role: role as Role }
      : item
  })
  const wrong = read.find((item) => typeof item === "string")
  return wrong === undefined
    ? Result.succeed(read.filter((item) => typeof item !== "string"))
    : Result.fail(
        `OIDC_ROLES: "${wrong}" is not VALUE=WORKSPACE_ID:ROLE with the role viewer, editor or admin`
      )
}
