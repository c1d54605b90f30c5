import { apiKeyPrefix } from "../api-keys/ApiKey.ts"
import { signingSecretPrefix } from "../webhooks/StandardWebhooks.ts"
import { workerTokenPrefix } from "../workers/Worker.ts"

/** What programs keep and send, as the source of a pattern: a prefix, and 32 random bytes. */
export const bearerKeyForm = (prefix: string): string => `${prefix}[A-Za-z0-9_-]{43}`

/** The header of every JWT is a JSON object. */
const jwtBeginning = "eyJ"

/** How secrets begin that the service makes and that anybody can tell by their form. */
export const secretBeginnings: ReadonlyArray<string> = [
  apiKeyPrefix,
  workerTokenPrefix,
  signingSecretPrefix,
  jwtBeginning
]

/** Finds API keys and tokens of workers in a text. */
export const bearerKeysInText = new RegExp(
  [apiKeyPrefix, workerTokenPrefix].map(bearerKeyForm).join("|"),
  "g"
)

/** Finds in a text what is shown once and opens something from then on. */
export const shownOnceInText = new RegExp(
  `${bearerKeysInText.source}|${jwtBeginning}[\\w-]+\\.[\\w-]+\\.[\\w-]+`,
  "g"
)
