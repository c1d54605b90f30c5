import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import type { Certificate } from "./certificate.ts"

export interface SinkOptions {
  readonly answer: string
  /** True for persistent connections. Otherwise, each connection is closed after its response. */
  readonly keepsConnections: boolean
  readonly certificate?: Pick<Certificate, "cert" | "key"> | undefined
}

export interface Arrivals {
  readonly ids: ReadonlyArray<string>
  /** Each id's arrival time, in milliseconds since the epoch. */
  readonly times: ReadonlyArray<number>
}

export interface Sink extends AsyncDisposable {
  readonly url: string
  /** Waits until this many calls have arrived, and returns all of them. */
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
