import { capitalize } from "./format.ts"

/** The names of common status codes. */
const statusNames: Readonly<Record<string, string>> = {
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  301: "Moved Permanently",
  302: "Found",
  303: "See Other",
  304: "Not Modified",
  307: "Temporary Redirect",
  308: "Permanent Redirect",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  425: "Too Early",
  429: "Too Many Requests",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout"
}

/** Formats an error message as a sentence, with the name of the status code that it contains. */
export const describeError = (message: string): string =>
  capitalize(
    message.replace(/\bresponded with (\d{3})\b/, (text, code) =>
      statusNames[code] === undefined ? text : `${text} ${statusNames[code]}`
    )
  )
