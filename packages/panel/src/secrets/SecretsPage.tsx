import type { Secret } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Lock, Plus } from "lucide-react"
import { useState } from "react"
import { ApiExample } from "../data/ApiExample.tsx"
import { useWorkspace } from "../data/client.ts"
import { bypassCache } from "../data/queries.ts"
import { Button } from "../ui/actions/Button.tsx"
import { EmptyState, Page } from "../ui/layout/Page.tsx"
import { type Column, List, menuColumn, rowNameClass, rowDetailClass } from "../ui/lists/List.tsx"
import { RoleGate } from "../ui/role.tsx"
import { RelativeTime } from "../ui/values/Time.tsx"
import { secretsOptions } from "./queries.ts"
import { SecretMenu } from "./SecretMenu.tsx"
import { SecretSheet } from "./SecretSheet.tsx"
import { Author } from "../versions/Versions.tsx"
import { SecretUseLinks } from "./SecretUseLinks.tsx"

export const SecretsPage = () => {
  const { workspaceId } = useWorkspace()
  const [isCreating, setCreating] = useState(false)
  // The list is refetched on each visit, because editing a task can change which secrets it uses.
  const {
    data = [],
    error,
    isPending,
    refetch
  } = useQuery(bypassCache(secretsOptions(workspaceId)))
  const create = (
    <RoleGate role="editor">
      <Button look="main" icon={<Plus />} onClick={() => setCreating(true)}>
        New secret
      </Button>
    </RoleGate>
  )
  return (
    <Page
      title="Secrets"
      description="Tokens, passwords and keys that calls can use but nobody can read. Each is sent only to its allowed hosts."
      actions={create}
    >
      <List
        label="Secrets"
        rows={data.map((secret) => ({ ...secret, id: secret.name }))}
        isLoading={isPending}
        error={error}
        refetch={refetch}
        columns={columns}
        empty={
          <EmptyState title="No secrets yet" icon={<Lock />} action={create}>
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
      {isCreating && <SecretSheet onClose={() => setCreating(false)} />}
    </Page>
  )
}

const columns: ReadonlyArray<Column<Secret & { readonly id: string }>> = [
  {
    key: "name",
    head: "Name",
    className: "grow basis-0",
    cell: ({ allowed_hosts, description, name }) => (
      <>
        <span className={`${rowNameClass} font-mono text-sm`}>{name}</span>
        {description !== null && (
          <span className={`${rowDetailClass} max-sm:hidden`} title={description}>
            {description}
          </span>
        )}
        <span className="block truncate font-mono text-xs text-faint sm:hidden">
          {allowed_hosts.join(", ")}
        </span>
      </>
    )
  },
  {
    key: "hosts",
    head: "Allowed hosts",
    className: "w-64 shrink-0 max-sm:hidden",
    cell: ({ allowed_hosts }) => (
      <span
        className="line-clamp-2 compact:line-clamp-1 font-mono text-xs wrap-anywhere text-soft"
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
