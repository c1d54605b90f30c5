import { Schema, Struct } from "effect"
import { deriveOptions } from "../../shared/deriveOptions.ts"
import { keyInput } from "../../shared/requests/CallerChosenKey.ts"
import { ListPage } from "../../shared/requests/ListQuery.ts"
import { putFields } from "../../shared/requests/putBody.ts"
import { versionInput } from "../../shared/requests/Version.ts"
import { patchFields } from "../../shared/requests/optionalWithDefault.ts"
import { text } from "../../shared/Text.ts"
import { exampleOfCheck } from "../checks/Check.ts"
import { checkFields, checkSettings } from "../checks/checkFields.ts"
import { exampleOfMonitor, monitorFields, monitorInput, monitorPausedInput } from "../Monitor.ts"
import { hostName } from "../ssl/hostName.ts"

/** The text to send once the connection is open, and the expected text. */
const target = deriveOptions({
  send: {
    absent: "None",
    input: Schema.NullOr(text({ min: 1, max: 1_000 })).annotate({
      description: "The text to send once the connection is open. A line ends with CR LF.",
      examples: ["PING\r\n"]
    }),
    shown: Schema.NullOr(Schema.String).annotate({
      description: "The text that is sent. Null if there is none."
    }),
    default: null
  },
  expect: {
    absent: "None",
    input: Schema.NullOr(text({ min: 1, max: 500 })).annotate({
      description:
        "The text that the first 64 KiB from the server must contain. Without it, an open connection is sufficient.",
      examples: ["+PONG"]
    }),
    shown: Schema.NullOr(Schema.String).annotate({
      description: "The text that the server must send. Null if an open connection is sufficient."
    }),
    default: null
  }
})

/** The default values of a TCP monitor, without those of `tcpTargetDefaults`. */
export const tcpDefaults = { key: null, tags: [], ...checkSettings.defaults } as const
/** The default values of the fields that say what to check. */
export const tcpTargetDefaults = target.defaults

const fields = {
  ...monitorInput,
  host: hostName("The name or address of the server."),
  port: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 65_535 })).annotate({
    description: "The port of the server.",
    examples: [6379]
  }),
  ...target.input,
  ...checkSettings.input
}

const exampleDefinition = {
  name: "Cache",
  host: "cache.example.com",
  port: 6379,
  send: "PING\r\n",
  expect: "+PONG"
}

const inputFields = { ...fields, ...keyInput, ...monitorPausedInput }

export const TcpMonitorInput = Schema.Struct(inputFields).annotate({
  identifier: "TcpMonitorInput",
  examples: [exampleDefinition]
})
export type TcpMonitorInput = typeof TcpMonitorInput.Type

export const TcpMonitorUpdate = Schema.Struct(patchFields(inputFields))
  .mapFields(Struct.assign(versionInput))
  .annotate({
    identifier: "TcpMonitorUpdate",
    description:
      "The fields to change. Absent fields keep their values. The target is checked again. Changing the host or port makes the monitor `new` again and closes its incident.",
    examples: [{ interval_seconds: 30 }]
  })
export type TcpMonitorUpdate = typeof TcpMonitorUpdate.Type

export const TcpMonitor = Schema.Struct({
  ...monitorFields,
  host: Schema.String.annotate({ description: "The name or address of the server." }),
  port: Schema.Int.annotate({ description: "The port of the server." }),
  ...target.fields,
  ...checkFields
}).annotate({
  identifier: "TcpMonitor",
  examples: [
    {
      ...exampleOfMonitor,
      ...exampleDefinition,
      ...checkSettings.defaults,
      failures: 0,
      place_results: [],
      last_check: {
        at: "2026-01-31T09:30:00.000Z",
        ...exampleOfCheck,
        tls_ms: null,
        status_code: null,
        certificate_expires_at: null
      }
    }
  ]
})
export type TcpMonitor = typeof TcpMonitor.Type

export const TcpMonitorDefinition = Schema.Struct(
  putFields({ ...fields, ...monitorPausedInput, ...versionInput }, TcpMonitor)
).annotate({
  identifier: "TcpMonitorDefinition",
  description:
    "A TCP monitor whose key is in the path. Absent fields get their defaults. Fields that " +
    "only responses have are ignored.",
  examples: [exampleDefinition]
})
export type TcpMonitorDefinition = typeof TcpMonitorDefinition.Type

export const TcpMonitorPage = ListPage("TcpMonitorPage", TcpMonitor)
