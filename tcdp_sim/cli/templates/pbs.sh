{% extends "job.sh" %}
{% set prefix, index = "#PBS", "${TCDP_SIM_PART:-$PBS_ARRAY_INDEX}" %}
{% macro directives(need) %}
#PBS -N tcdp-sim
#PBS -l select=1:ncpus=1:mem={{ need.megabytes }}mb
#PBS -l walltime={{ need.clock }}
#PBS -j oe
{%- endmacro %}
{% block submit %}
after=
for range in $(echo "$parts" | tr , ' '); do
    case $range in # an array of PBS is one range of at least two numbers
        *-*) id=$(qsub -J "$range" -o "$jobs/" "$jobs/part.sh") ;;
        *) id=$(qsub -v "TCDP_SIM_PART=$range" -o "$jobs/" "$jobs/part.sh") ;;
    esac
    after=$after:$id
done
qsub -W "depend=afterany$after" -o "$jobs/" "$jobs/finish.sh"
{% endblock %}
