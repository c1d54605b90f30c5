const prefix = "probes "

/** The signal that notifies nodes that a worker has probes to make. */
export const probesSignal = {
  encode: (workerId: string): string => prefix + workerId,
  decode: (payload: string): string | undefined =>
    payload.startsWith(prefix) ? payload.slice(prefix.length) : undefined
}
