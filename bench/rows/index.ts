import type { Report } from "../support/report.ts"
import { measureBurst } from "./burst.ts"
import { measureCreates } from "./creates.ts"
import {
  measureLargeBodies,
  measureSmallCalls,
  measureFlow,
  measureHttps,
  measureHttpsConnections,
  measureSecrets
} from "./drain.ts"
import { measureHandshakes } from "./handshakes.ts"
import { measureKeyScale } from "./keyScale.ts"
import { measureLateness } from "./lateness.ts"
import { measureLogins } from "./logins.ts"
import { measureJwtRequest, measureKeyVerification, measureAuthenticatedList } from "./requests.ts"
import { measureDeadlines } from "./deadlines.ts"
import { measureMonitorScale } from "./monitorScale.ts"
import { measureNotifications } from "./notifications.ts"
import { measureObservedRequests, measureObservedRuns } from "./observing.ts"
import { measurePings } from "./pings.ts"
import { measureSearch } from "./search.ts"
import { measureStart } from "./start.ts"
import { measureTaskScale } from "./taskScale.ts"
import { measureRunAndWait } from "./waited.ts"
import { measureWorkerDrain, measureIdleWorkers, measureWorkerLateness } from "./workers.ts"

/** All measurements, in the order in which they run. */
export const measurements: Readonly<Record<string, () => Promise<Report>>> = {
  list: measureAuthenticatedList,
  keys: measureKeyVerification,
  jwt: measureJwtRequest,
  "key-scale": measureKeyScale,
  search: measureSearch,
  creates: measureCreates,
  logins: measureLogins,
  drain: measureSmallCalls,
  bodies: measureLargeBodies,
  https: measureHttps,
  "https-connections": measureHttpsConnections,
  secrets: measureSecrets,
  flow: measureFlow,
  handshakes: measureHandshakes,
  burst: measureBurst,
  lateness: measureLateness,
  waited: measureRunAndWait,
  "task-scale": measureTaskScale,
  pings: measurePings,
  deadlines: measureDeadlines,
  notifications: measureNotifications,
  "monitor-scale": measureMonitorScale,
  "worker-drain": measureWorkerDrain,
  "worker-idle": measureIdleWorkers,
  "worker-lateness": measureWorkerLateness,
  observing: measureObservedRequests,
  "observing-runs": measureObservedRuns,
  start: measureStart
}
