/**
 * A process loads this module before everything else. From each SIGUSR2 on, the wall clock of the
 * process is ahead of the machine's by the milliseconds that a file names. Timers and monotonic
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
