import type { Dependency } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../data/client.ts"
import {
  dependencyKey,
  dependencyOfKey,
  type FormDependency,
  taskOrMonitorLink,
  useDependencyTargets
} from "../data/targets.ts"
import { TargetPicker } from "../ui/forms/TargetPicker.tsx"
import type { FactsByName } from "../ui/layout/Page.tsx"
import { stripDirectionMarks } from "../ui/values/stripDirectionMarks.ts"

/** A monitor's or task's dependencies as form values. */
export interface DependsOnValues {
  readonly depends_on: ReadonlyArray<FormDependency>
}

export const dependsOnValuesOf = ({
  depends_on
}: {
  readonly depends_on: ReadonlyArray<Dependency>
}): DependsOnValues => ({ depends_on: depends_on.map(({ id, kind }) => ({ kind, id })) })

/** A field for selecting the monitors and tasks that a monitor or task depends on. */
export const DependsOnField = ({
  error,
  onChange,
  values: { depends_on }
}: {
  readonly values: DependsOnValues
  readonly onChange: (change: DependsOnValues) => void
  readonly error: string | undefined
}) => {
  const { find, findKey, nameOf } = useDependencyTargets(depends_on)
  return (
    <div className="flex flex-col gap-1.5">
      <TargetPicker
        label="Depends on"
        placeholder="Search by name"
        chosen={depends_on.map(dependencyKey)}
        onChange={(chosen) => onChange({ depends_on: chosen.map(dependencyOfKey) })}
        nameOf={(key) => nameOf(dependencyOfKey(key))}
        findKey={findKey}
        find={async (name, signal) => {
          const found = await find(name, signal)
          return found.map(({ on, ...one }) => ({ ...one, id: dependencyKey(on) }))
        }}
        error={error}
      />
      <p className="text-xs text-faint">
        Nobody is notified of a problem here while any of these has an open incident.
      </p>
    </div>
  )
}

const DependsOnLinks = ({ depends_on }: DependsOnValues) => {
  const { nameOf } = useDependencyTargets(depends_on)
  return (
    <ul className="flex flex-col gap-1">
      {depends_on.map((one) => (
        <li key={one.id}>
          <SubjectLink subject={{ ...one, name: nameOf(one) }} />
        </li>
      ))}
    </ul>
  )
}

/** Returns the fact that lists a monitor's or task's dependencies. */
export const dependsOnFacts = (depends_on: ReadonlyArray<FormDependency>): FactsByName =>
  depends_on.length === 0 ? {} : { "Depends on": <DependsOnLinks depends_on={depends_on} /> }

/** A link to a monitor or task: the subject of an incident, or a dependency. */
export const SubjectLink = ({
  subject
}: {
  readonly subject: FormDependency & { readonly name: string }
}) => {
  const { workspaceId } = useWorkspace()
  return (
    <Link
      {...taskOrMonitorLink(workspaceId, subject)}
      className="font-medium text-live underline-offset-2 hover:underline"
    >
      {stripDirectionMarks(subject.name)}
    </Link>
  )
}
