import * as net from "node:net"
import { type ControlAnswer, controlSocketPath } from "./ControlSocket.ts"

export const askServer = (dataDir: string, words: ReadonlyArray<string>): Promise<ControlAnswer> =>
  new Promise((resolve, reject) => {
    let text = ""
    const socket = net.connect(controlSocketPath(dataDir), () =>
      socket.write(`${JSON.stringify(words)}\n`)
    )
    socket.setEncoding("utf8")
    socket.on("data", (chunk) => (text += chunk))
    socket.on("error", reject)
    socket.on("end", () => resolve(JSON.parse(text) as ControlAnswer))
  })
