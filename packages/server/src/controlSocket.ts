import * as net from "node:net"
import * as path from "node:path"

// The operator's commands import only this file, because loading the whole service takes seconds.

/** The socket on which a running server receives the operator's commands. */
export const controlSocketPath = (dataDir: string): string => path.join(dataDir, "control.sock")

export interface ControlResponse {
  readonly ok: boolean
  readonly text: string
}

/** Sends a command to the running server that uses the data directory. */
export const sendCommand = (
  dataDir: string,
  words: ReadonlyArray<string>
): Promise<ControlResponse> =>
  new Promise((resolve, reject) => {
    let text = ""
    const socket = net.connect(controlSocketPath(dataDir), () =>
      socket.write(`${JSON.stringify(words)}\n`)
    )
    socket.setEncoding("utf8")
    socket.on("data", (chunk) => (text += chunk))
    socket.on("error", reject)
    socket.on("end", () => resolve(JSON.parse(text) as ControlResponse))
  })
