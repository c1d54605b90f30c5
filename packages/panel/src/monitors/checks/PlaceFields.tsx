import { Link } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { Field, Select, Textarea } from "../../ui/forms/Field.tsx"
import type { FieldGroupProps } from "../../ui/forms/inputProps.ts"
import type { CheckValues } from "./checkValues.ts"

/** Lets the user choose whether the service or workers at several places check the target. */
export const PlaceFields = ({ errorOf, onChange, values }: FieldGroupProps<CheckValues>) => {
  const { workspaceId } = useWorkspace()
  const { down_when, places } = values
  return (
    <>
      <Field
        label="Checked from"
        hint={
          places === null
            ? "The service can reach public addresses and those that its operator allows."
            : "A worker can reach the addresses in its network that its agent allows."
        }
        error={places === null ? errorOf("places") : undefined}
        side={
          <Link
            to="/w/$workspaceId/workers"
            params={{ workspaceId }}
            className="text-sm text-faint hover:text-ink"
          >
            Show workers
          </Link>
        }
      >
        <Select
          value={places === null ? "service" : "places"}
          options={[
            ["service", "The service"],
            ["places", "Places of workers"]
          ]}
          onChange={({ target }) => onChange({ places: target.value === "places" ? "" : null })}
        />
      </Field>
      {places !== null && (
        <div className="grid gap-5 sm:grid-cols-2">
          <Field
            label="Places"
            hint="One place per line, at most 10: the labels that its worker must have. A worker counts for one place only."
            error={errorOf("places")}
          >
            <Textarea
              mono
              required
              rows={3}
              spellCheck={false}
              placeholder={"frankfurt\nlondon\noslo"}
              value={places}
              onChange={({ target }) => onChange({ places: target.value })}
            />
          </Field>
          <Field
            label="A check counts as failed if it fails"
            hint="Places without a worker or a result are ignored."
            error={errorOf("down_when")}
          >
            <Select
              value={down_when}
              options={[
                ["any", "At any place"],
                ["majority", "At more than half of the places"],
                ["all", "At all places"]
              ]}
              onChange={({ target }) =>
                onChange({ down_when: target.value as CheckValues["down_when"] })
              }
            />
          </Field>
        </div>
      )}
    </>
  )
}
