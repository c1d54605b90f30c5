import type { Secret } from "@scheduling/sdk"
import { Lock } from "lucide-react"
import { ApiExample } from "../data/ApiExample.tsx"
import { useWorkspace } from "../data/client.ts"
import { bypassCache, useWholeList } from "../data/queries.ts"
import { useCreateSheet } from "../ui/actions/useCreateSheet.tsx"
import { EmptyState, Page } from "../ui/layout/Page.tsx"
import { type Column, List, menuColumn, rowNameClass, rowDetailClass } from "../ui/lists/List.tsx"
import { RelativeTime } from "../ui/values/Time.tsx"
import { secretsOptions } from "./queries.ts"
import { SecretMenu } from "./SecretMenu.tsx"
import { SecretSheet } from "./SecretSheet.tsx"
import { Author } from "../versions/Versions.tsx"
import { SecretUseLinks } from "./SecretUseLinks.tsx"

export const SecretsPage = () => {
  const { workspaceId } = useWorkspace()
  // The list is refetched on each visit, because editing a task can change which secrets it uses.
  const list = useWholeList(bypassCache(secretsOptions(workspaceId)))
  const create = useCreateSheet("New secret", (onClose) => <SecretSheet onClose={onClose} />)
  return (
    <Page
      title="Secrets"
      description="Tokens, passwords and keys that calls can use but nobody can read. Each is sent only to its allowed hosts."
      actions={create.button}
    >
      <List
        {...list}
        label="Secrets"
        columns={columns}
        empty={
          <EmptyState title="No secrets yet" icon={<Lock />} action={create.button}>
            <p className="mb-6">
              A secret keeps a credential out of your tasks. It is inserted when a call is made, and
              only if the call goes to one of its allowed hosts.
            </p>
            <ApiExample
              label="Create a secret"
              path="secrets"
              method="secrets.upsert"
              name="API_TOKEN"
              input={{ value: "3f9c8d2e", allowed_hosts: ["api.example.com"] }}
              isForUsers
            />
          </EmptyState>
        }
      />
      {create.sheet}
    </Page>
  )
}

const columns: ReadonlyArray<Column<Secret>> = [
  {
    key: "name",
    head: "Name",
    className: "grow basis-0",
    cell: ({ description, name }) => (
      <>
        <span className={`${rowNameClass} font-mono text-sm`}>{name}</span>
        {description !== null && (
          <span className={rowDetailClass} title={description}>
            {description}
          </span>
        )}
      </>
    )
  },
  {
    key: "hosts",
    head: "Allowed hosts",
    className: "w-64 shrink-0 max-sm:shrink",
    belowOnPhone: "plain",
    cell: ({ allowed_hosts }) => (
      <span
        className="line-clamp-2 compact:line-clamp-1 font-mono text-xs wrap-anywhere text-soft max-sm:line-clamp-none"
        title={allowed_hosts.join(", ")}
      >
        {allowed_hosts.join(", ")}
      </span>
    )
  },
  {
    key: "uses",
    head: "Used by",
    className: "w-60 shrink-0 max-lg:hidden",
    cell: ({ used_by }) => (
      <span className="line-clamp-2 compact:line-clamp-1">
        {used_by.length === 0 ? (
          <span className="text-faint">Nothing yet</span>
        ) : (
          <SecretUseLinks uses={used_by} />
        )}
      </span>
    )
  },
  {
    key: "set",
    head: "Value set",
    className: "w-24 shrink-0",
    belowOnPhone: "labelled",
    cell: ({ value_set_at }) => <RelativeTime at={value_set_at} />
  },
  {
    key: "changed",
    head: "Changed by",
    className: "w-36 shrink-0 max-lg:hidden",
    cell: ({ updated_by }) => (
      <span className="line-clamp-2 compact:line-clamp-1 wrap-anywhere">
        <Author actor={updated_by} />
      </span>
    )
  },
  menuColumn((secret) => <SecretMenu secret={secret} />)
]
