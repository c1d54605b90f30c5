import type { StatusPage } from "@scheduling/sdk"
import { ExternalLink, Globe, Lock } from "lucide-react"
import { ApiExample } from "../data/ApiExample.tsx"
import { useWorkspace } from "../data/client.ts"
import { bypassCache, useWholeList } from "../data/queries.ts"
import { useCreateSheet } from "../ui/actions/useCreateSheet.tsx"
import { EmptyState, Page } from "../ui/layout/Page.tsx"
import { type Column, List, menuColumn, rowNameClass, rowDetailClass } from "../ui/lists/List.tsx"
import { RelativeTime } from "../ui/values/Time.tsx"
import { statusPageUrl, statusPagesOptions } from "./queries.ts"
import { StatusPageMenu } from "./StatusPageMenu.tsx"
import { StatusPageSheet } from "./StatusPageSheet.tsx"

export const StatusPagesPage = () => {
  const { workspaceId } = useWorkspace()
  const list = useWholeList(bypassCache(statusPagesOptions(workspaceId)))
  const create = useCreateSheet("New status page", (onClose) => (
    <StatusPageSheet onClose={onClose} />
  ))
  return (
    <Page
      title="Status pages"
      description="Public pages with the status of the monitors that you choose."
      actions={create.button}
    >
      <List
        {...list}
        label="Status pages"
        columns={columns}
        empty={
          <EmptyState title="No status pages yet" icon={<Globe />} action={create.button}>
            <p className="mb-6">
              Show your users the status of your services, with 90 days of history. Only the
              monitors that you choose appear.
            </p>
            <ApiExample
              label="Create a status page"
              path="status-pages"
              method="statusPages.upsert"
              name="acme"
              input={{ title: "Acme status", groups: [{ name: "Website", tags: ["public"] }] }}
            />
          </EmptyState>
        }
      />
      {create.sheet}
    </Page>
  )
}

const columns: ReadonlyArray<Column<StatusPage>> = [
  {
    key: "title",
    head: "Title",
    className: "grow basis-0",
    cell: ({ groups, title }) => (
      <>
        <span className={rowNameClass}>
          <bdi>{title}</bdi>
        </span>
        <span className={rowDetailClass}>
          {groups.length === 0 ? "No groups" : groups.map(({ name }) => name).join(", ")}
        </span>
      </>
    )
  },
  {
    key: "address",
    head: "Address",
    className: "w-72 shrink-0 max-sm:shrink",
    belowOnPhone: "plain",
    cell: ({ has_password, published, slug }) =>
      published ? (
        <a
          href={statusPageUrl(slug)}
          target="_blank"
          rel="noreferrer"
          className="inline-flex max-w-full items-center gap-1.5 hover:underline"
        >
          <span className="truncate font-mono text-sm">/status/{slug}</span>
          {has_password && <Lock aria-label="Needs a password" className="size-3.5 shrink-0" />}
          <ExternalLink aria-hidden className="size-3.5 shrink-0 text-faint" />
        </a>
      ) : (
        <span className="text-faint">Not published</span>
      )
  },
  {
    key: "updated",
    head: "Changed",
    className: "w-24 shrink-0 max-sm:hidden",
    cell: ({ updated_at }) => <RelativeTime at={updated_at} />
  },
  menuColumn((page) => <StatusPageMenu page={page} />)
]
