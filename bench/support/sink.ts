import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import type { Arrivals } from "./sinkProcess.ts"

export interface Sink extends AsyncDisposable {
  readonly url: string
  /** All calls, once there are so many. */
  readonly arrivals: (count: number) => Promise<Arrivals>
}

const patienceMs = 120_000

export const startSink = async (): Promise<Sink> => {
  const child = fork(fileURLToPath(new URL("./sinkProcess.ts", import.meta.url)))
  const [url] = (await once(child, "message")) as [string]
  return {
    url,
    arrivals: async (count) => {
      child.send(count)
      const signal = AbortSignal.timeout(patienceMs)
      try {
        const [arrivals] = (await once(child, "message", { signal })) as [Arrivals]
        return arrivals
      } catch (cause) {
        throw new Error(`fewer than ${count} calls within two minutes`, { cause })
      }
    },
    [Symbol.asyncDispose]: async () => {
      child.disconnect()
      await once(child, "exit")
    }
  }
}
