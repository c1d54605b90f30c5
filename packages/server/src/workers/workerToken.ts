import { workerTokenPrefix } from "@scheduling/domain/workers/Worker"
import { bearerKeys } from "../core/index.ts"

export const { isWellFormed, make: makeToken } = bearerKeys(workerTokenPrefix, "worker_token")
