import type { CallAuth } from "@scheduling/sdk"
import { secretReference } from "../../secrets/secretValues.ts"

/**
 * A call's authentication as form values. The fields of all kinds are kept, so that changing the
 * kind and changing it back loses nothing.
 */
export interface AuthValues {
  readonly kind: CallAuth["kind"] | ""
  readonly username: string
  readonly token_url: string
  readonly client_id: string
  readonly scope: string
  readonly audience: string
  /** The names of the secrets that hold the credentials. */
  readonly password: string
  readonly token: string
  readonly client_secret: string
}

export const authKindLabels: Readonly<Record<CallAuth["kind"], string>> = {
  basic: "Basic: a username and a password",
  bearer: "Bearer: a token",
  oauth2_client_credentials: "OAuth2: client credentials"
}

const noAuth: AuthValues = {
  kind: "",
  username: "",
  token_url: "",
  client_id: "",
  scope: "",
  audience: "",
  password: "",
  token: "",
  client_secret: ""
}

/** Returns the name referenced by `{{ secrets.NAME }}`. */
export const referencedSecretName = (reference: string): string =>
  /^\{\{\s*secrets\.(\w+)\s*\}\}$/.exec(reference)?.[1] ?? ""

export const authValuesOf = (auth: CallAuth | null): AuthValues => {
  switch (auth?.kind) {
    case undefined:
      return noAuth
    case "basic":
      return { ...noAuth, ...auth, password: referencedSecretName(auth.password) }
    case "bearer":
      return { ...noAuth, ...auth, token: referencedSecretName(auth.token) }
    case "oauth2_client_credentials": {
      const { audience = "", client_secret, scope = "" } = auth
      return {
        ...noAuth,
        ...auth,
        scope,
        audience,
        client_secret: referencedSecretName(client_secret)
      }
    }
  }
}

export const authInputOf = (values: AuthValues): CallAuth | null => {
  const { audience, client_id, client_secret, kind, password, scope, token, token_url, username } =
    values
  switch (kind) {
    case "":
      return null
    case "basic":
      return { kind, username: username.trim(), password: secretReference(password) }
    case "bearer":
      return { kind, token: secretReference(token) }
    case "oauth2_client_credentials":
      return {
        kind,
        token_url: token_url.trim(),
        client_id: client_id.trim(),
        client_secret: secretReference(client_secret),
        ...(scope.trim() !== "" && { scope: scope.trim() }),
        ...(audience.trim() !== "" && { audience: audience.trim() })
      }
  }
}
