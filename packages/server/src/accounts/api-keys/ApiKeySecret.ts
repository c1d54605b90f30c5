import { apiKeyPrefix } from "@scheduling/domain/api-keys/ApiKey"
import { bearerKeys } from "../../core/index.ts"

export const { isWellFormed, make: makeKey } = bearerKeys(apiKeyPrefix, "api_key")
