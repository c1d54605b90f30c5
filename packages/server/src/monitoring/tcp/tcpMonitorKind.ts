import { forbiddenTargetCheck } from "@scheduling/calls/egress/forbiddenTargetCheck"
import {
  tcpDefaults,
  type TcpMonitor,
  type TcpMonitorInput,
  type TcpMonitorUpdate,
  tcpTargetDefaults
} from "@scheduling/domain/monitors/tcp/TcpMonitor"
import { Effect } from "effect"
import { checkedKind } from "../checks/checkedKind.ts"
import { toCheckedFields } from "../checks/CheckedRow.ts"
import { withGivenFields } from "../checks/withGivenFields.ts"
import { urlOfHost } from "../checks/urlOfHost.ts"

export interface TcpTarget {
  readonly host: string
  readonly port: number
  readonly send: string | null
  readonly expect: string | null
}

/** Defines the TCP monitor, which opens a connection and can also wait for an expected text. */
export const tcpMonitorKind = Effect.gen(function* () {
  const checkTargets = yield* forbiddenTargetCheck
  return yield* checkedKind<TcpTarget, TcpMonitorInput, TcpMonitorUpdate, TcpMonitor>({
    kind: "tcp",
    defaults: tcpDefaults,
    toTarget: ({ host, port, ...input }) =>
      withGivenFields<TcpTarget>({ ...tcpTargetDefaults, host, port }, input),
    changeTarget: withGivenFields,
    identityOf: ({ host, port }) => ({ host, port }),
    checkTarget: ({ host }) =>
      host === undefined ? Effect.void : checkTargets([{ path: ["host"], url: urlOfHost(host) }]),
    show: (row, at) => ({ ...toCheckedFields(row, at), ...row.target })
  })
})
