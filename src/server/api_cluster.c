/* api_cluster.c: what clients learn before they do anything else: versions, capabilities, limits
   and the published contracts. A capability that is not true here is not served, and the other way
   round. */
#include "base/json.h"
#include "holdfast/tool.h"
#include "server/api_worker.h"
#include "server/handlers.h"
#include "server/server_impl.h"

/* Where the published contracts are maintained. */
#define AUTHORITY "https://github.com/durable-workflow"

static hf_value capabilities(hf_mem *mem)
{
    return hf_json_(
        mem, "{'workflow_tasks': true, 'activity_tasks': true, 'signals': true, 'queries': true, "
             "'updates': true, 'schedules': true, 'history_export': true, 'continue_as_new': true, "
             "'child_workflows': true, 'payload_codec_envelope': true, "
             "'payload_codec_envelope_responses': true, 'bridge_adapter_outcome_contract': true, "
             "'replay_verification_contract': true, 'external_executor_config_contract': false, "
             "'invocable_carrier_contract': false, 'payload_codecs': ['avro', 'json'], "
             "'payload_codecs_engine_specific': {}, 'response_compression': ['gzip']}");
}

static hf_value limits(hf_mem *mem)
{
    return hf_json_(mem,
                    "{'max_payload_bytes': 2097152, 'max_memo_bytes': 262144, "
                    "'max_search_attributes': 100, 'max_search_attribute_key_length': 64, "
                    "'max_search_attribute_value_bytes': 2048, 'max_operation_name_length': 191, "
                    "'max_pending_activities': 2000, 'max_pending_children': 1000}");
}

static hf_value structural_limits(hf_mem *mem)
{
    return hf_json_(mem, "{'pending_activity_count': 2000, 'pending_child_count': 1000, "
                         "'pending_timer_count': 2000, 'pending_signal_count': 5000, "
                         "'pending_update_count': 500, 'command_batch_size': 1000, "
                         "'payload_size_bytes': 2097152, 'memo_size_bytes': 262144, "
                         "'search_attribute_size_bytes': 40960, 'history_transaction_size': 5000}");
}

static hf_value auth_composition(hf_mem *mem)
{
    return hf_json_(
        mem,
        "{'schema': 'durable-workflow.v2.auth-composition.contract', 'version': 1, "
        "'precedence': {'connection_values': ['flag', 'environment', 'profile', 'default'], "
        "'profile_selection': ['flag', 'environment', 'default']}, "
        "'canonical_environment': {'server_url': 'DURABLE_WORKFLOW_SERVER_URL', "
        "'namespace': 'DURABLE_WORKFLOW_NAMESPACE', 'auth_token': 'DURABLE_WORKFLOW_AUTH_TOKEN', "
        "'tls_verify': 'DURABLE_WORKFLOW_TLS_VERIFY', 'profile': 'DW_ENV'}, "
        "'auth_material': {'token': {'status': 'supported', 'effective_config_value': 'redacted'}, "
        "'mtls': {'status': 'reserved'}, 'signed_headers': {'status': 'reserved'}}, "
        "'effective_config': {'required_fields': ['server_url', 'namespace', 'profile', 'auth', "
        "'tls', 'identity']}, 'redaction': {'never_echo': ['bearer_tokens', 'private_keys', "
        "'raw_authorization_headers']}}");
}

static hf_value control_plane(hf_mem *mem)
{
    return hf_json_(
        mem,
        "{'version': 2, 'header': '" HF_CONTROL_PLANE_HEADER "', 'request_contract': {'schema': "
        "'durable-workflow.v2.control-plane-request.contract', 'version': 1, 'operations': "
        "{'start': {'fields': {'duplicate_policy': {'canonical_values': ['fail', "
        "'use-existing']}}}, "
        "'update': {'fields': {'wait_for': {'canonical_values': ['accepted', 'completed']}}}}}}");
}

static hf_value worker_protocol(hf_mem *mem)
{
    return hf_json_(mem,
                    "{'version': '" HF_WORKER_PROTOCOL_TEXT
                    "', 'header': '" HF_WORKER_PROTOCOL_HEADER "', 'server_capabilities': %p}",
                    (const void *)hf_worker_capabilities(mem));
}

static hf_value surface_stability(hf_mem *mem)
{
    return hf_json_(mem,
                    "{'schema': 'durable-workflow.v2.surface-stability.contract', 'version': 1, "
                    "'authority_url': '" AUTHORITY "', 'stability_levels': {}, "
                    "'release_rules': {}, 'field_visibility_rule': {}, 'surface_families': {}, "
                    "'release_check': {}}");
}

static hf_value protocol_specs(hf_mem *mem)
{
    return hf_json_(mem,
                    "{'schema': 'durable-workflow.v2.platform-protocol-specs.catalog', "
                    "'version': 16, 'catalog_url': '" AUTHORITY "', 'authority_url': '" AUTHORITY
                    "', 'formats': [], 'owner_repos': [], 'status_levels': {}, "
                    "'evolution_rules': {}, 'specs': {}, 'release_check': {}}");
}

static hf_value conformance_suite(hf_mem *mem)
{
    return hf_json_(mem,
                    "{'schema': 'durable-workflow.v2.platform-conformance.suite', 'version': 41, "
                    "'authority_doc': '" AUTHORITY "', 'surface_stability_authority': '" AUTHORITY
                    "', 'result_schema': 'durable-workflow.v2.platform-conformance.result', "
                    "'result_version': 1, 'conformance_levels': {}, 'targets': {}, "
                    "'fixture_catalog': {}, 'pass_fail_rules': {}, 'harness_contract': {}, "
                    "'release_gates': {}}");
}

/* How the server is doing. */
static hf_value coordination(hf_api *api)
{
    return hf_json_(api->mem,
                    "{'schema': 'durable-workflow.v2.coordination-health', 'version': 1, 'status': "
                    "%s, 'checks': []}",
                    atomic_load(&api->server->draining) ? "draining" : "ok");
}

void hf_api_cluster(hf_api *api)
{
    hf_mem *mem = api->mem;
    hf_value_list *info = hf_value_object(mem);

    hf_value_set(info, HF_SLICE("server_id"),
                 hf_json_(mem, "'holdfast-%lld'", (long long)api->server->started_us));
    hf_value_set(info, HF_SLICE("version"), hf_json_(mem, "%s", hf_version_text()));
    hf_value_set(info, HF_SLICE("default_namespace"), hf_json_(mem, "'" HF_NAMESPACE_DEFAULT "'"));
    hf_value_set(info, HF_SLICE("supported_sdk_versions"),
                 hf_json_(mem, "{'python': '>=2.0.0rc1', 'rust': '>=2.0.0-rc.1'}"));
    hf_value_set(info, HF_SLICE("capabilities"), capabilities(mem));
    hf_value_set(info, HF_SLICE("worker_fleet"), hf_worker_fleet(api));
    hf_value_set(info, HF_SLICE("task_repair"),
                 hf_json_(mem,
                          "{'policy': {'redispatch_after_seconds': 3, 'loop_throttle_seconds': "
                          "5, 'scan_limit': 25, 'failure_backoff_max_seconds': 60}, "
                          "'candidates': []}"));
    hf_value_set(info, HF_SLICE("limits"), limits(mem));
    hf_value_set(info, HF_SLICE("structural_limits"), structural_limits(mem));
    hf_value_set(info, HF_SLICE("topology"),
                 hf_json_(mem, "{'schema': 'durable-workflow.v2.topology', 'version': 1, "
                               "'supported_shapes': ['standalone_server'], 'current_shape': "
                               "'standalone_server'}"));
    hf_value_set(info, HF_SLICE("coordination_health"), coordination(api));
    hf_value_set(info, HF_SLICE("client_compatibility"),
                 hf_json_(mem, "{'authority': 'protocol_manifests'}"));
    hf_value_set(info, HF_SLICE("surface_stability_contract"), surface_stability(mem));
    hf_value_set(info, HF_SLICE("platform_protocol_specs"), protocol_specs(mem));
    hf_value_set(info, HF_SLICE("platform_conformance_suite"), conformance_suite(mem));
    hf_value_set(info, HF_SLICE("sdk_neutrality_contract"),
                 hf_json_(mem,
                          "{'schema': 'durable-workflow.v2.sdk-neutrality.contract', 'version': "
                          "1, 'authority_url': '" AUTHORITY "'}"));
    hf_value_set(info, HF_SLICE("auth_composition_contract"), auth_composition(mem));
    hf_value_set(info, HF_SLICE("control_plane"), control_plane(mem));
    hf_value_set(info, HF_SLICE("worker_protocol"), worker_protocol(mem));
    hf_value_set(info, HF_SLICE("bridge_adapter_outcome_contract"),
                 hf_json_(mem, "{'schema': 'durable-workflow.v2.bridge-adapter-outcome.contract', "
                               "'version': 1, 'supported': true, 'actions': ['start_workflow', "
                               "'signal_workflow', 'update_workflow']}"));
    hf_value_set(info, HF_SLICE("replay_verification_contract"),
                 hf_json_(mem, "{'schema': 'durable-workflow.v2.replay-verification.contract', "
                               "'version': 1, 'supported': true}"));
    hf_api_json(api, 200, hf_value_finish(info));
}
