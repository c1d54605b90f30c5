import { Schema } from "effect"
import { text } from "../shared/Text.ts"
import { type FieldProblem, filterIssue } from "../shared/ValidationIssue.ts"
import { CallUrl } from "./CallUrl.ts"

const secretReference = /^\{\{\s*secrets\.([A-Z][A-Z0-9_]{0,62})\s*\}\}$/

/** Returns the secret's name if the string consists of one secret reference. */
export const secretNameInReference = (value: string): string | undefined =>
  secretReference.exec(value)?.[1]

/** A string that consists of one secret reference. */
const SecretReference = (description: string) =>
  Schema.String.check(
    Schema.isPattern(secretReference, { expected: "a reference such as {{ secrets.API_TOKEN }}" })
  ).annotate({
    description: `${description}, as a reference to a secret.`,
    examples: ["{{ secrets.API_TOKEN }}"]
  })

/** A name, either literal or a reference to a secret. */
const NameOrReference = (description: string, example: string) =>
  text({ min: 1, max: 255 })
    .check(
      Schema.makeFilter(
        (value) => !value.includes("{{") || secretNameInReference(value) !== undefined,
        {
          expected: "a text without {{, or a reference such as {{ secrets.API_USER }}",
          toJsonSchema: () => ({})
        }
      )
    )
    .annotate({
      description: `${description}, literal or as a reference to a secret.`,
      examples: [example]
    })

const Basic = Schema.Struct({
  kind: Schema.Literal("basic").annotate({ description: "A user name and a password." }),
  username: NameOrReference("The user name", "robot"),
  password: SecretReference("The password")
}).annotate({
  identifier: "BasicAuth",
  examples: [{ kind: "basic", username: "robot", password: "{{ secrets.API_PASSWORD }}" }]
})

const Bearer = Schema.Struct({
  kind: Schema.Literal("bearer").annotate({ description: "A token." }),
  token: SecretReference("The token")
}).annotate({
  identifier: "BearerAuth",
  examples: [{ kind: "bearer", token: "{{ secrets.API_TOKEN }}" }]
})

const OAuth2ClientCredentials = Schema.Struct({
  kind: Schema.Literal("oauth2_client_credentials").annotate({
    description: "An OAuth 2.0 access token that the service requests."
  }),
  token_url: CallUrl.annotate({
    description: "The token endpoint of the authorization server.",
    examples: ["https://login.example.com/oauth2/token"]
  }),
  client_id: NameOrReference("The client id", "scheduler"),
  client_secret: SecretReference("The client secret"),
  scope: Schema.optionalKey(
    text({ min: 1, max: 1_000 }).annotate({
      description: "The scopes to request, separated by spaces. Defaults to the client's scopes.",
      examples: ["jobs:run"]
    })
  ),
  audience: Schema.optionalKey(
    text({ min: 1, max: 1_000 }).annotate({
      description: "The API that the token is for, if the authorization server requires it.",
      examples: ["https://api.example.com"]
    })
  )
}).annotate({
  identifier: "OAuth2ClientCredentialsAuth",
  examples: [
    {
      kind: "oauth2_client_credentials",
      token_url: "https://login.example.com/oauth2/token",
      client_id: "scheduler",
      client_secret: "{{ secrets.CLIENT_SECRET }}",
      scope: "jobs:run"
    }
  ]
})
export type OAuth2Auth = typeof OAuth2ClientCredentials.Type

/** The credentials that a call sends in its `Authorization` header. */
export const CallAuth = Schema.Union([Basic, Bearer, OAuth2ClientCredentials]).annotate({
  identifier: "CallAuth"
})
export type CallAuth = typeof CallAuth.Type

/** Returns the names of the secrets that an `auth` uses. */
export const secretsOfAuth = (auth: CallAuth): ReadonlyArray<string> =>
  Object.values(auth).flatMap((value) => secretNameInReference(value) ?? [])

interface Authenticated {
  readonly auth?: CallAuth | null
  readonly headers?: Readonly<Record<string, string | null>>
}

/** Returns true if both `auth` and the headers would set the `Authorization` header. */
export const setsAuthorizationTwice = ({ auth, headers = {} }: Authenticated): boolean =>
  auth != null &&
  Object.entries(headers).some(
    ([name, value]) => value !== null && name.toLowerCase() === "authorization"
  )

export const duplicateAuthorizationProblem: FieldProblem = {
  path: ["auth"],
  code: "invalid",
  problem: "sets the Authorization header, which is also set in `headers`: send only one of the two"
}

/** A PATCH may contain only one of `auth` and `headers`, so the merged call is checked too. */
export const duplicateAuthorizationCheck = Schema.makeFilter<Authenticated>((call) =>
  setsAuthorizationTwice(call) ? filterIssue(duplicateAuthorizationProblem) : undefined
)
