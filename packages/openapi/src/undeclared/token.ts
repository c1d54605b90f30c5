import { accessTokenSeconds } from "@scheduling/domain/auth/TokenPair"
import { tokenPath } from "@scheduling/domain/service-accounts/ServiceAccount"
import { headerReferences } from "../responses/headers.ts"
import type { Method, Operation } from "../model.ts"

const tokenErrors = [
  "invalid_request",
  "invalid_client",
  "invalid_scope",
  "unsupported_grant_type",
  "temporarily_unavailable"
]

export const tokenSchemas = {
  ClientCredentials: {
    type: "object",
    description: "The form of the token endpoint.",
    properties: {
      grant_type: {
        type: "string",
        description: "Always `client_credentials`.",
        enum: ["client_credentials"]
      },
      client_id: {
        type: "string",
        description: "The id of the service account. Absent with HTTP Basic."
      },
      client_secret: { type: "string", description: "The client secret. Absent with HTTP Basic." }
    },
    required: ["grant_type"],
    examples: [
      {
        grant_type: "client_credentials",
        client_id: "019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41",
        client_secret: "psk_Zk3vT9qLm2XcR7wYbN5hJ8dFgKsPaQeUoViWxCzTyBM"
      }
    ]
  },
  AccessToken: {
    type: "object",
    description: "An access token of a service account.",
    properties: {
      access_token: { type: "string", description: "The JWT to send as a bearer token." },
      token_type: { type: "string", description: "Always `Bearer`.", enum: ["Bearer"] },
      expires_in: {
        type: "integer",
        description:
          "The lifetime of the access token in seconds. Shorter if a rotated secret expires earlier."
      }
    },
    required: ["access_token", "token_type", "expires_in"],
    additionalProperties: false,
    examples: [
      {
        access_token: "eyJhbGciOiJIUzI1NiIsImtpZCI6ImExIn0.eyJ0eXAiOiJhY2Nlc3MifQ.c2lnbmF0dXJl",
        token_type: "Bearer",
        expires_in: accessTokenSeconds
      }
    ]
  },
  TokenError: {
    type: "object",
    description: "An error of the token endpoint, in the format of RFC 6749.",
    properties: {
      error: { type: "string", description: "The error code.", enum: tokenErrors },
      error_description: { type: "string", description: "A human-readable message." }
    },
    required: ["error", "error_description"],
    additionalProperties: false,
    examples: [
      {
        error: "invalid_client",
        error_description:
          "The client_id is unknown, or the client_secret is wrong or has been replaced."
      }
    ]
  }
}

const answer = (
  name: keyof typeof tokenSchemas,
  description: string,
  more: ReadonlyArray<string> = []
) => ({
  description,
  headers: headerReferences(["cache-control", ...more]),
  content: {
    "application/json": {
      schema: { $ref: `#/components/schemas/${name}` },
      example: tokenSchemas[name].examples[0]
    }
  }
})

/**
 * The contract does not declare the token endpoint, because RFC 6749 defines its body and its
 * errors.
 */
export const tokenPaths: Readonly<Record<string, Readonly<Partial<Record<Method, Operation>>>>> = {
  [tokenPath]: {
    post: {
      operationId: "serviceAccounts.token",
      tags: ["Service accounts"],
      summary: "Get an access token of a service account",
      description:
        "The client credentials grant of OAuth 2.0 (RFC 6749). The client is in the form, or in the " +
        "header `Authorization` by HTTP Basic. The token may do what the role of the service account allows " +
        "in its workspace. Failed attempts are limited like logins: 10 per client, or 50 per IP address, within 15 minutes, and " +
        "100 attempts per client in total. Reuse a token until it expires.\n\nNeeds no other credential.",
      security: [],
      "x-access": "public",
      parameters: [],
      requestBody: {
        required: true,
        content: {
          "application/x-www-form-urlencoded": {
            schema: { $ref: "#/components/schemas/ClientCredentials" },
            example: tokenSchemas.ClientCredentials.examples[0]
          }
        }
      },
      responses: {
        200: answer("AccessToken", "The access token."),
        400: answer("TokenError", "The request is not valid."),
        401: answer("TokenError", "The client is unknown, or its secret is wrong.", [
          "www-authenticate"
        ]),
        413: { $ref: "#/components/responses/PayloadTooLargeError" },
        429: answer("TokenError", "Too many attempts.", ["retry-after"]),
        503: { $ref: "#/components/responses/UnavailableError" }
      },
      "x-codeSamples": [
        {
          lang: "Shell",
          label: "curl",
          source: `curl "$SCHEDULING_URL${tokenPath}" -u "$CLIENT_ID:$CLIENT_SECRET" -d grant_type=client_credentials`
        }
      ]
    } satisfies Operation
  }
}
