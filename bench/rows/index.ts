import type { Report } from "../support/report.ts"
import { burst } from "./burst.ts"
import { creates } from "./creates.ts"
import { bodies, drainSmallCalls, flow, https, httpsConnections, secrets } from "./drain.ts"
import { handshakes } from "./handshakes.ts"
import { keyScale } from "./keyScale.ts"
import { lateness } from "./lateness.ts"
import { logins } from "./logins.ts"
import { jwt, keys, list } from "./requests.ts"
import { deadlines } from "./deadlines.ts"
import { monitorScale } from "./monitorScale.ts"
import { notifications } from "./notifications.ts"
import { observing, observingRuns } from "./observing.ts"
import { pings } from "./pings.ts"
import { search } from "./search.ts"
import { start } from "./start.ts"
import { taskScale } from "./taskScale.ts"
import { runAndWait } from "./waited.ts"
import { workerDrain, workerIdle, workerLateness } from "./workers.ts"

/** All measurements, in the order in which they run. */
export const rows: Readonly<Record<string, () => Promise<Report>>> = {
  list,
  keys,
  jwt,
  "key-scale": keyScale,
  search,
  creates,
  logins,
  drain: drainSmallCalls,
  bodies,
  https,
  "https-connections": httpsConnections,
  secrets,
  flow,
  handshakes,
  burst,
  lateness,
  waited: runAndWait,
  "task-scale": taskScale,
  pings,
  deadlines,
  notifications,
  "monitor-scale": monitorScale,
  "worker-drain": workerDrain,
  "worker-idle": workerIdle,
  "worker-lateness": workerLateness,
  observing,
  "observing-runs": observingRuns,
  start
}
