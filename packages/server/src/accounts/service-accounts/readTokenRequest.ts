import { Redacted, Result } from "effect"

/** An error of the token endpoint, defined in RFC 6749, section 5.2. */
export interface TokenRefusal {
  readonly error: "invalid_request" | "invalid_client" | "invalid_scope" | "unsupported_grant_type"
  readonly error_description: string
}

interface Client {
  readonly id: string
  readonly secret: Redacted.Redacted
}

/**
 * Parses a request to the token endpoint: a form with the grant type, and client credentials in the
 * form or in HTTP Basic. As RFC 6749 requires, unknown fields and empty fields are ignored, and
 * duplicate fields are rejected.
 */
export const readTokenRequest = (request: {
  readonly contentType: string
  readonly authorization: ReadonlyArray<string>
  readonly body: string
}): Result.Result<Client, TokenRefusal> => {
  if (!/^application\/x-www-form-urlencoded(?:\s*;|$)/i.test(request.contentType)) {
    return refusal(
      "invalid_request",
      "The body must be a form, with the header Content-Type: application/x-www-form-urlencoded."
    )
  }
  const form = new URLSearchParams(request.body)
  const twice = [...new Set(form.keys())].find((name) => form.getAll(name).length > 1)
  if (twice !== undefined) {
    return refusal("invalid_request", "The body contains a duplicate field.")
  }
  const grantType = form.get("grant_type") ?? ""
  if (grantType === "") return refusal("invalid_request", "grant_type is required.")
  if (grantType !== "client_credentials") {
    return refusal("unsupported_grant_type", "grant_type must be client_credentials.")
  }
  if ((form.get("scope") ?? "") !== "") {
    return refusal(
      "invalid_scope",
      "Scopes are not supported: a token may do what the role of the service account allows. Omit scope."
    )
  }
  return readClient(request.authorization, form.get("client_id") ?? "", form.get("client_secret"))
}

const readClient = (
  authorization: ReadonlyArray<string>,
  id: string,
  secret: string | null
): Result.Result<Client, TokenRefusal> => {
  const [header, ...others] = authorization
  if (header === undefined) {
    return id === "" || secret === null || secret === ""
      ? refusal(
          "invalid_client",
          "The request contains no client credentials. Send client_id and client_secret in the form, or by HTTP Basic."
        )
      : Result.succeed(clientOf(id, secret))
  }
  if (others.length > 0 || (secret !== null && secret !== "")) {
    return refusal(
      "invalid_request",
      "The request contains two sets of client credentials. Send only one."
    )
  }
  const client = readBasic(header)
  if (client === undefined) {
    return refusal("invalid_client", "The header Authorization is not HTTP Basic.")
  }
  return id === "" || id === client.id
    ? Result.succeed(client)
    : refusal("invalid_request", "client_id and the header Authorization name different clients.")
}

/** Decodes `Basic` credentials, in which both parts are form-encoded. */
const readBasic = (header: string): Client | undefined => {
  const [, encoded] = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(header) ?? []
  const [, id, secret] =
    /^([^:]+):(.+)$/.exec(Buffer.from(encoded ?? "", "base64").toString("latin1")) ?? []
  return id === undefined || secret === undefined
    ? undefined
    : clientOf(formDecoded(id), formDecoded(secret))
}

const formDecoded = (text: string): string =>
  new URLSearchParams(`text=${text.replaceAll("&", "%26")}`).get("text") ?? ""

const clientOf = (id: string, secret: string): Client => ({
  id,
  secret: Redacted.make(secret, { label: "client_secret" })
})

const refusal = (
  error: TokenRefusal["error"],
  error_description: string
): Result.Result<never, TokenRefusal> => Result.fail({ error, error_description })
