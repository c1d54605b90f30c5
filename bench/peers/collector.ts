/** Accepts data from OpenTelemetry exporters and discards it. */
import { createServer } from "node:http"

createServer((request, response) => {
  request.resume()
  request.on("end", () => response.writeHead(200).end())
}).listen(Number(process.env["PORT"]), "127.0.0.1")
