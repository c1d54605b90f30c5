import { apiKeyPrefix } from "../api-keys/ApiKey.ts"
import { clientSecretPrefix } from "../service-accounts/ServiceAccount.ts"
import { signingSecretPrefix } from "../webhooks/StandardWebhooks.ts"
import { workerTokenPrefix } from "../workers/Worker.ts"

/** Returns the pattern of a bearer key: a prefix and 32 random bytes in base64url. */
export const bearerKeyPattern = (prefix: string): string => `${prefix}[A-Za-z0-9_-]{43}`

/** The first characters of every JWT: its header is a JSON object, which begins with `{"`. */
const jwtBeginning = "eyJ"

/** The prefixes of all secrets that the service creates. */
export const secretPrefixes: ReadonlyArray<string> = [
  apiKeyPrefix,
  clientSecretPrefix,
  workerTokenPrefix,
  signingSecretPrefix,
  jwtBeginning
]

export const bearerKeyRegExp = new RegExp(
  [apiKeyPrefix, clientSecretPrefix, workerTokenPrefix].map(bearerKeyPattern).join("|"),
  "g"
)

export const secretRegExp = new RegExp(
  `${bearerKeyRegExp.source}|${jwtBeginning}[\\w-]+\\.[\\w-]+\\.[\\w-]+`,
  "g"
)
