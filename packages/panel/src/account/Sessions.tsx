import type { Session } from "@scheduling/sdk"
import { client } from "../data/client.ts"
import { queryClient, useList } from "../data/queries.ts"
import { Button } from "../ui/actions/Button.tsx"
import { type Column, List, rowDetailClass, rowTextClass } from "../ui/lists/List.tsx"
import { Badge } from "../ui/values/Status.tsx"
import { RelativeTime } from "../ui/values/Time.tsx"
import { runWithToast } from "../ui/messages/toast.ts"

import { sessionListOptions } from "./queries.ts"

export const Sessions = () => {
  const list = useList(sessionListOptions)
  return <List {...list} label="Sessions" columns={columns} empty={null} />
}

const end = async ({ id }: Session) => {
  await runWithToast(() => client.auth.deleteSession(id), "The session was ended")
  await queryClient.invalidateQueries({ queryKey: sessionListOptions.queryKey })
}

/** Returns the browser and the operating system named by a user agent: `Firefox on Linux`. */
const deviceOf = (agent: string | null): string => {
  if (agent === null) return "Unknown device"
  const browser = ["Edg", "OPR", "Firefox", "Chrome", "Safari", "curl"].find((name) =>
    agent.includes(name)
  )
  const system = ["Android", "iPhone", "iPad", "Windows", "Mac OS", "Linux"].find((name) =>
    agent.includes(name)
  )
  const name = { Edg: "Edge", OPR: "Opera" }[browser ?? ""] ?? browser
  return name === undefined ? agent : system === undefined ? name : `${name} on ${system}`
}

const beginnings: Readonly<Record<Session["began_with"], string>> = {
  password: "with the password",
  provider: "at the identity provider",
  passkey: "with a passkey",
  proxy: "at the proxy",
  link: "with a token from the operator"
}

const columns: ReadonlyArray<Column<Session>> = [
  {
    key: "device",
    head: "Device",
    className: "grow basis-0",
    cell: ({ began_with, current, ip, user_agent }) => (
      <>
        <span className="flex items-center gap-2 font-medium" title={user_agent ?? undefined}>
          <span className={rowTextClass}>{deviceOf(user_agent)}</span>
          {current && <Badge tone="live">current</Badge>}
        </span>
        <span className={rowDetailClass}>
          <span className="font-mono">{ip}</span> · {beginnings[began_with]}
        </span>
      </>
    )
  },
  {
    key: "used",
    head: "Last used",
    className: "w-24 shrink-0",
    belowOnPhone: "labelled",
    cell: ({ last_used_at }) => <RelativeTime at={last_used_at} />
  },
  {
    key: "end",
    head: <span className="sr-only">Actions</span>,
    className: "w-26 shrink-0 text-right",
    cell: (one) =>
      !one.current && (
        <Button size="small" onClick={() => void end(one)}>
          End session
        </Button>
      )
  }
]
