import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import type { Certificate } from "./certificate.ts"

export interface SinkOptions {
  /** The body of every answer. */
  readonly answer: string
  /** If not, each connection ends after its answer. */
  readonly keepsConnections: boolean
  /** With it the receiver speaks HTTPS. */
  readonly certificate?: Pick<Certificate, "cert" | "key"> | undefined
}

export interface Arrivals {
  readonly ids: ReadonlyArray<string>
  /** Arrival times in milliseconds since the epoch, at the same positions as in `ids`. */
  readonly times: ReadonlyArray<number>
}

export interface Sink extends AsyncDisposable {
  readonly url: string
  /** All calls, once this many have arrived. */
  readonly arrivals: (count: number) => Promise<Arrivals>
}

const patienceMs = 120_000

export const startSink = async (options: SinkOptions): Promise<Sink> => {
  const script = fileURLToPath(new URL("./sinkProcess.ts", import.meta.url))
  const child = fork(script, [JSON.stringify(options)])
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
