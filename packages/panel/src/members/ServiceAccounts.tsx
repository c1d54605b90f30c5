import type { CreatedServiceAccount, ServiceAccount } from "@scheduling/sdk"
import { Plus, RefreshCw } from "lucide-react"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { useList } from "../data/queries.ts"
import { Button } from "../ui/actions/Button.tsx"
import { MenuItem } from "../ui/actions/Menu.tsx"
import { RotateSheet } from "../ui/actions/RotateSheet.tsx"
import { RowMenu } from "../ui/actions/RowMenu.tsx"
import { Section } from "../ui/layout/Page.tsx"
import { type Column, List, menuColumn, rowDetailClass, rowNameClass } from "../ui/lists/List.tsx"
import { showSuccessToast } from "../ui/messages/toast.ts"
import { Code } from "../ui/values/Code.tsx"
import { SecretShownOnce } from "../ui/values/SecretShownOnce.tsx"
import { capitalize } from "../ui/values/format.ts"
import { Badge } from "../ui/values/Status.tsx"
import { RelativeTime } from "../ui/values/Time.tsx"
import { serviceAccountQueries } from "./queries.ts"
import { ServiceAccountSheet } from "./ServiceAccountSheet.tsx"

/**
 * Lists the service accounts. Shows the client secret of an account that was just created or
 * rotated.
 */
export const ServiceAccounts = () => {
  const { workspaceId } = useWorkspace()
  const list = useList(serviceAccountQueries.list(workspaceId))
  const [isCreating, setCreating] = useState(false)
  const [created, setCreated] = useState<CreatedServiceAccount>()
  return (
    <Section
      title="Service accounts"
      actions={
        <Button icon={<Plus />} onClick={() => setCreating(true)}>
          New service account
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        <p className="text-sm text-soft">
          For tools that set up workers, keys, members and tasks. A service account has a role, but
          no password.
        </p>
        {created !== undefined && <ShownSecret created={created} />}
        {(list.error !== null || list.rows.length > 0) && (
          <List {...list} label="Service accounts" columns={columnsWith(setCreated)} empty={null} />
        )}
      </div>
      {isCreating && (
        <ServiceAccountSheet onClose={() => setCreating(false)} onCreated={setCreated} />
      )}
    </Section>
  )
}

const ShownSecret = ({
  created: { client_id, client_secret, name }
}: {
  readonly created: CreatedServiceAccount
}) => (
  <SecretShownOnce
    title={`Save the secret of ${name} now. It cannot be shown again.`}
    label="client secret"
    secret={client_secret}
  >
    <Code
      label="Get an access token"
      text={`curl ${location.origin}/v1/auth/token \\\n  -d grant_type=client_credentials \\\n  -d client_id=${client_id} \\\n  -d client_secret=${client_secret}`}
      wrap
    />
  </SecretShownOnce>
)

const ServiceAccountMenu = ({
  account,
  onRotated
}: {
  readonly account: ServiceAccount
  readonly onRotated: (created: CreatedServiceAccount) => void
}) => {
  const { api, workspaceId } = useWorkspace()
  const [asked, ask] = useState<"edit" | "rotate">()
  const close = () => ask(undefined)
  const { id, name } = account
  return (
    <>
      <RowMenu
        name={name}
        role="admin"
        onEdit={() => ask("edit")}
        onDelete={async () => {
          await api.serviceAccounts.delete(id)
          showSuccessToast(`${name} was deleted`)
          await serviceAccountQueries.changed(workspaceId)
        }}
        warning="Its secret and its access tokens stop working immediately. API keys that it created keep working. Invitations that it created are withdrawn."
      >
        <MenuItem icon={<RefreshCw />} onSelect={() => ask("rotate")}>
          Rotate secret
        </MenuItem>
      </RowMenu>
      {asked === "edit" && <ServiceAccountSheet account={account} onClose={close} />}
      {asked === "rotate" && (
        <RotateSheet
          title={`Rotate the secret of ${name}`}
          secret="secret"
          onClose={close}
          onRotate={async (grace_seconds) => {
            onRotated(await api.serviceAccounts.rotate(id, { grace_seconds }))
            void serviceAccountQueries.changed(workspaceId)
          }}
        />
      )}
    </>
  )
}

const columnsWith = (
  onRotated: (created: CreatedServiceAccount) => void
): ReadonlyArray<Column<ServiceAccount>> => [
  {
    key: "name",
    head: "Name",
    className: "grow basis-0",
    cell: ({ name, secret_prefix }) => (
      <>
        <span className={rowNameClass}>{name}</span>
        <span className={`${rowDetailClass} font-mono`}>{secret_prefix}…</span>
      </>
    )
  },
  {
    key: "used",
    head: "Last used",
    className: "w-24 shrink-0",
    belowOnPhone: "labelled",
    cell: ({ last_used_at }) =>
      last_used_at === null ? (
        <span className="text-faint">Never</span>
      ) : (
        <RelativeTime at={last_used_at} />
      )
  },
  {
    key: "role",
    head: "Role",
    className: "w-20 shrink-0",
    cell: ({ role }) => <Badge>{capitalize(role)}</Badge>
  },
  menuColumn((account) => <ServiceAccountMenu account={account} onRotated={onRotated} />)
]
