import {
  type AddToPrincipalPolicyResult,
  type IGrantable,
  type IPrincipal,
  type IRole,
  type PolicyStatement,
  type PrincipalPolicyFragment,
} from "aws-cdk-lib/aws-iam";
import { DependencyGroup } from "constructs";

/**
 * Whatever runs handlers of one lane, as one principal: the function, and the tasks of its jobs on Fargate and of its
 * schedules with a rule of their own. A role that joins later gets what was granted before.
 * @beta
 */
export class LanePrincipal implements IPrincipal {
  readonly grantPrincipal = this;
  readonly assumeRoleAction = "sts:AssumeRole";
  readonly #roles: IRole[] = [];
  readonly #statements: PolicyStatement[] = [];

  get policyFragment(): PrincipalPolicyFragment {
    const [first] = this.#roles;
    if (first === undefined) throw new Error("the lane has no worker yet: grant after the construct was made");
    return first.policyFragment;
  }

  join(grantee: IGrantable): void {
    const role = grantee.grantPrincipal as IRole;
    if (this.#roles.includes(role)) return;
    this.#roles.push(role);
    for (const statement of this.#statements) role.addToPrincipalPolicy(statement);
  }

  addToPolicy(statement: PolicyStatement): boolean {
    return this.addToPrincipalPolicy(statement).statementAdded;
  }

  addToPrincipalPolicy(statement: PolicyStatement): AddToPrincipalPolicyResult {
    this.#statements.push(statement);
    const policyDependable = new DependencyGroup();
    for (const role of this.#roles) {
      const added = role.addToPrincipalPolicy(statement);
      if (added.policyDependable !== undefined) policyDependable.add(added.policyDependable);
    }
    return { statementAdded: true, policyDependable };
  }
}
