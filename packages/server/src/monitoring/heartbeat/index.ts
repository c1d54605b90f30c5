import { Layer } from "effect"
import { onlyOnRunnerNodes } from "../../core/index.ts"
import { Deadlines, DeadlinesLayer } from "./Deadlines.ts"
import { heartbeatTable } from "./HeartbeatRow.ts"
import { HeartbeatsRepo } from "./HeartbeatsRepo.ts"
import { HeartbeatMonitorsHandlers } from "./http.ts"
import { PingKeys } from "./PingKeys.ts"
import { PingKeysRepo } from "./PingKeysRepo.ts"
import { Pings } from "./Pings.ts"
import { PingUrls } from "./PingUrls.ts"

export const heartbeatMonitors = {
  table: heartbeatTable,
  layer: Layer.mergeAll(HeartbeatMonitorsHandlers, onlyOnRunnerNodes(DeadlinesLayer)).pipe(
    Layer.provideMerge(Layer.mergeAll(Deadlines.layer, PingKeys.layer, Pings.layer)),
    Layer.provide([HeartbeatsRepo.layer, PingKeysRepo.layer, PingUrls.layer])
  )
}
