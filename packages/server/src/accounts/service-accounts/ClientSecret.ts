import { clientSecretPrefix } from "@scheduling/domain/service-accounts/ServiceAccount"
import { bearerKeys } from "../../core/index.ts"

export const { make: makeClientSecret } = bearerKeys(clientSecretPrefix, "client_secret")
