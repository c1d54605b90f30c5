import type { Report } from "../support/report.ts"
import { drain } from "./drain.ts"
import { keyScale } from "./keyScale.ts"
import { lateness } from "./lateness.ts"
import { logins } from "./logins.ts"
import { jwt, keys, list } from "./requests.ts"
import { start } from "./start.ts"
import { taskScale } from "./taskScale.ts"

/** What can be measured, in the order in which all of it is. */
export const rows: Readonly<Record<string, () => Promise<Report>>> = {
  list,
  keys,
  jwt,
  "key-scale": keyScale,
  logins,
  drain,
  lateness,
  "task-scale": taskScale,
  start
}
