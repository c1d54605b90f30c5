import { isIPv6 } from "node:net"

/** A URL with this host, for the check of targets. */
export const urlOfHost = (host: string): string => `https://${isIPv6(host) ? `[${host}]` : host}/`
