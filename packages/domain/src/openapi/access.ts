import type { OpenApi } from "effect/http-api"
import type { AccessRule } from "../shared/Access.ts"
import type { Operation } from "./model.ts"

export const securitySchemes: Record<string, OpenApi.OpenAPISecurityScheme> = {
  bearer: {
    type: "http",
    scheme: "bearer",
    description:
      "Either an access token (a JWT that `POST /v1/auth/login` gives; it lives 15 minutes) or an API key " +
      "(`pak_` and 43 characters; it lives until it expires or is revoked)."
  }
}

const sentence = (access: AccessRule): string => {
  switch (access.kind) {
    case "public":
      return "Needs no credential."
    case "jwt":
      return "Needs an access token; API keys are refused."
    case "scope":
      return `Needs an access token, or an API key with the scope \`${access.scope}\`.`
    case "credential":
      return "Needs an access token or an API key, whatever its scopes."
  }
}

/** What one operation says about who may call it. */
export const describeAccess = (access: AccessRule) => ({
  sentence: sentence(access),
  fields: {
    security: access.kind === "public" ? [] : [{ bearer: [] }],
    "x-access": access.kind,
    ...(access.kind === "scope" && { "x-required-scope": access.scope })
  } satisfies Partial<Operation>
})
