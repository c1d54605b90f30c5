import type { OpenApi } from "effect/http-api"
import type { AccessRule } from "@scheduling/domain/shared/Access"
import type { Role } from "@scheduling/domain/members/Role"
import type { Operation } from "../model.ts"

export const securitySchemes: Record<string, OpenApi.OpenAPISecurityScheme> = {
  bearer: {
    type: "http",
    scheme: "bearer",
    description:
      "Either an access token (a JWT from `POST /v1/auth/login` or `POST /v1/auth/token`, valid for 15 minutes) or an API key " +
      "(`pak_` and 43 characters, valid until it expires or is revoked)."
  }
}

const sentence = (access: AccessRule): string => {
  switch (access.kind) {
    case "public":
      return "Needs no credential."
    case "jwt":
      if (access.isForPeople) {
        return "Needs an access token of a person; API keys and service accounts are rejected."
      }
      return access.role === null || access.role === "viewer"
        ? "Needs an access token; API keys are rejected."
        : `Needs an access token of a member who is ${atLeast(access.role)}; API keys are rejected.`
    case "scope":
      return access.role === "viewer"
        ? `Needs an access token, or an API key with the scope \`${access.scope}\`.`
        : `Needs an access token of a member who is ${atLeast(access.role)}, or an API key with the scope \`${access.scope}\`.`
    case "any_scope": {
      const scopes = `an API key with one of the scopes ${access.scopes.map((scope) => `\`${scope}\``).join(", ")}`
      return access.role === "viewer"
        ? `Needs an access token, or ${scopes}.`
        : `Needs an access token of a member who is ${atLeast(access.role)}, or ${scopes}.`
    }
    case "credential":
      return "Needs an access token or an API key with any scopes."
  }
}

const atLeast = (role: Role) => (role === "owner" ? "an `owner`" : `at least \`${role}\``)

const roleOf = (access: AccessRule) =>
  access.kind === "public" || access.kind === "credential" ? null : access.role

/** Describes who may use an operation. */
export const describeAccess = (access: AccessRule) => ({
  sentence: sentence(access),
  fields: {
    security: access.kind === "public" ? [] : [{ bearer: [] }],
    "x-access": access.kind,
    ...(access.kind === "scope" && { "x-required-scope": access.scope }),
    ...(access.kind === "any_scope" && { "x-required-scopes": access.scopes }),
    ...(roleOf(access) !== null && { "x-required-role": roleOf(access) ?? "viewer" })
  } satisfies Partial<Operation>
})
