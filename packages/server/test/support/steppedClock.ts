/**
 * A process loads this module before everything else. After each SIGUSR2, the process's wall clock
 * is ahead of the machine's clock by the number of milliseconds in a file. Timers and monotonic
 * time continue unchanged, as when an administrator or NTP sets a clock.
 */
import * as fs from "node:fs"
import { isMainThread } from "node:worker_threads"

const file = process.env["CLOCK_OFFSET_FILE"]
const realNow = Date.now.bind(Date)
let offsetMs = 0

if (file !== undefined && isMainThread) {
  Date.now = () => realNow() + offsetMs
  globalThis.Date = new Proxy(Date, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [Date.now()] : args, newTarget) as object
  })
  process.on("SIGUSR2", () => {
    offsetMs = Number(fs.readFileSync(file, "utf8"))
  })
}
